/// The last message of each topic, so that a retained one that comes again is known.
///
/// A broker sends what it has retained with every subscription that matches (MQTT 3.1.1 section 3.8.4), and so also to
/// those that have it. Only hashes are kept.
struct RecentMessages {
    private struct Last {
        var payload: Int
        var number: Int
        /// The last one that was retained, which another may have followed.
        var retained: (payload: Int, number: Int)?
    }

    /// The most topics. Beyond them all are forgotten, and a retained message may come twice.
    static let limit = 4096
    private var last: [Int: Last] = [:]

    /// - Parameter message: the newest, with its number.
    /// - Returns: for a retained message, the number of the one before it that was the same; 0 if there is none.
    mutating func note(_ message: IncomingMessage) -> Int {
        let (topic, payload) = (message.topic.hashValue, message.payload.hashValue)
        let before = last[topic]
        if before == nil, last.count >= Self.limit { last.removeAll(keepingCapacity: true) }
        var now = Last(payload: payload, number: message.number, retained: before?.retained)
        defer { last[topic] = now }
        guard message.retained else { return 0 }
        now.retained = (payload, message.number)
        guard let before else { return 0 }
        if before.payload == payload { return before.number }
        return before.retained.flatMap { $0.payload == payload ? $0.number : nil } ?? 0
    }

    /// Without a connection, messages are missed: what was retained before may be news.
    mutating func connectionBegins() { for topic in last.keys { last[topic]?.retained = nil } }
}
