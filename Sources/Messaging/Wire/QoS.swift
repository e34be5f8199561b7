/// How often a message may arrive (MQTT 3.1.1 section 4.3).
///
/// Between this client and the broker every message of the outbox is sent at least once: one whose acknowledgement was
/// lost with its connection is sent again on the next, as a message of its own, also at ``exactlyOnce``. Packet identifiers
/// begin anew with each connection: a broker that keeps half-finished exchanges of ``exactlyOnce`` in the session has to
/// tell a new message under an old identifier by its content, as Mosquitto does. ``atLeastOnce`` needs nothing of the kind.
public enum QoS: Int, Sendable, Hashable, CaseIterable {
    case atMostOnce = 0
    case atLeastOnce = 1
    case exactlyOnce = 2
}
