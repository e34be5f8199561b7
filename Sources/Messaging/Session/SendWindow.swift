/// Which messages may be on their way to the broker together.
///
/// A broker keeps the order of a topic within one quality of service only (MQTT 3.1.1 section 4.6): a message waits while
/// others of its topic are under way with another one, and everything behind it waits too.
struct SendWindow {
    /// The most messages, and the most bytes beside the first message, that are under way.
    let limit: Int
    static let byteLimit = 1 << 20

    private struct Lane {
        var qos: QoS
        var count: Int
    }
    private var lanes: [Topic: Lane] = [:]
    private var underWay: [Int64: (topic: Topic, size: Int)] = [:]
    private var bytes = 0
    private var held = Queue<QueuedMessage>()

    init(limit: Int) { self.limit = limit }

    var count: Int { underWay.count }
    /// How many messages it takes now: none while there are some to be sent or more than half of it is under way, so that
    /// messages are fetched and written in batches.
    var room: Int { held.isEmpty && underWay.count <= limit / 2 ? limit - underWay.count : 0 }
    var byteRoom: Int { max(1, Self.byteLimit - bytes) }

    mutating func add(_ messages: [QueuedMessage]) {
        for message in messages { held.append(message) }
    }

    /// The messages that may be sent now; they are under way from here on.
    mutating func ready() -> [QueuedMessage] {
        var ready: [QueuedMessage] = []
        while let next = held.first, underWay.count < limit, bytes == 0 || bytes + next.size <= Self.byteLimit {
            let topic = next.message.topic
            if let lane = lanes[topic], lane.qos != next.message.qos { break }
            lanes[topic, default: Lane(qos: next.message.qos, count: 0)].count += 1
            underWay[next.id] = (topic, next.size)
            bytes += next.size
            ready.append(next)
            _ = held.popFirst()
        }
        return ready
    }

    mutating func complete(_ id: Int64) {
        guard let (topic, size) = underWay.removeValue(forKey: id) else { return }
        bytes -= size
        lanes[topic]?.count -= 1
        if lanes[topic]?.count == 0 { lanes[topic] = nil }
    }
}
