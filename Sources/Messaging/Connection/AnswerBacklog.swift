/// Decides when nothing more is read from a broker that does not take the answers.
///
/// The library queues an answer to each message of QoS 1 and 2, to PUBREC, PUBREL and PINGREQ (MQTT 3.1.1 sections 3.3 to
/// 3.12), and has no limit for them. With ``most`` of them unsent, the socket is left to fill up, until the broker
/// reads; a broker that never does is dropped by the keep-alive.
struct AnswerBacklog {
    /// More than brokers have on the way: 10 to 100 unless told otherwise. One that waits for its own writes before it
    /// reads would wait forever for a client that stopped sooner.
    static let most = 1000

    /// Of the packets that were read while the library had something to write.
    private var count = 0

    /// - Parameter isWriting: whether the library could not write everything yet.
    mutating func update(isWriting: Bool) {
        if !isWriting { count = 0 }
    }

    mutating func add(_ count: Int) { self.count += count }

    var isFull: Bool { count >= Self.most }
}
