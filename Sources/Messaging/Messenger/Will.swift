/// The message that a broker publishes for a client that vanishes without taking leave (MQTT 3.1.1 section 3.1.2.5).
public struct Will: Sendable, Equatable {
    public var topic: Topic
    public var payload: [UInt8]
    /// 0 to 2: it is the broker's to send, so 2 is passed on.
    public var qos: Int
    public var retain: Bool

    public init(topic: Topic, payload: [UInt8], qos: Int = 0, retain: Bool = false) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.retain = retain
    }
}
