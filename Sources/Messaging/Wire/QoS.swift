/// How a message travels between this client and the broker (MQTT 3.1.1 section 4.3).
///
/// There is no third case. What MQTT calls "exactly once" only holds while both sides keep the state of every
/// exchange, and brokers do not: Mosquitto, as shipped, acknowledges and forgets messages beyond 20 exchanges at a
/// time, RabbitMQ treats QoS 2 as QoS 1, and a broker that keeps an unfinished exchange of a lost connection mistakes
/// the next message with its packet identifier for a repetition. Each of these loses messages. QoS 1 loses none: an
/// unacknowledged message is sent again, so a message can arrive more than once.
public enum QoS: Int, Sendable, Hashable, CaseIterable {
    case atMostOnce = 0
    case atLeastOnce = 1

    /// The quality for a requested one from 0 to 2: 2 is sent and subscribed to as 1.
    public init?(requested: Int) {
        switch requested {
        case 0: self = .atMostOnce
        case 1, 2: self = .atLeastOnce
        default: return nil
        }
    }
}
