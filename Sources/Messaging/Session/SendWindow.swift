/// Decides which messages may be in flight to the broker together.
///
/// A broker keeps the order of a topic within one quality of service only (MQTT 3.1.1 section 4.6): a message waits
/// while others of its topic are in flight with another quality, and everything behind it waits too.
struct SendWindow {
    /// The most messages in flight, and the most bytes beside the first message. A lowered limit applies to later
    /// sends.
    var limit: Int
    static let byteLimit = 1 << 20

    /// The messages of one topic that are in flight.
    private final class Lane {
        let topic: Topic
        let qos: QoS
        var count = 0

        init(_ message: OutgoingMessage) {
            topic = message.topic
            qos = message.qos
        }
    }
    private var lanes: [Topic: Lane] = [:]
    /// The lane used last, as messages of one topic often follow each other: its name need not be hashed.
    private var recent: Lane?
    private var underWay: [Int64: (lane: Lane, size: Int)] = [:]
    private var bytes = 0
    private var waiting = Queue<QueuedMessage>()

    init(limit: Int) { self.limit = limit }

    var count: Int { underWay.count }
    /// How many messages to fetch now: none while some are waiting or more than half of the window is in flight, so
    /// that messages are fetched and written in batches.
    var room: Int { waiting.isEmpty && underWay.count <= limit / 2 ? limit - underWay.count : 0 }
    var byteRoom: Int { max(1, Self.byteLimit - bytes) }

    mutating func add(_ messages: [QueuedMessage]) {
        for message in messages { waiting.append(message) }
    }

    /// The messages that may be sent now; they count as in flight from here on.
    mutating func ready() -> [QueuedMessage] {
        var ready: [QueuedMessage] = []
        while let next = waiting.first, underWay.count < limit, bytes == 0 || bytes + next.size <= Self.byteLimit {
            let lane = lane(of: next.message)
            guard lane.qos == next.message.qos else { break }
            lane.count += 1
            underWay[next.id] = (lane, next.size)
            bytes += next.size
            ready.append(next)
            _ = waiting.popFirst()
        }
        return ready
    }

    mutating func complete(_ id: Int64) {
        guard let (lane, size) = underWay.removeValue(forKey: id) else { return }
        bytes -= size
        lane.count -= 1
        guard lane.count == 0 else { return }
        lanes[lane.topic] = nil
        if recent === lane { recent = nil }
    }

    private mutating func lane(of message: OutgoingMessage) -> Lane {
        if let recent, recent.topic == message.topic { return recent }
        let lane = lanes[message.topic] ?? Lane(message)
        lanes[message.topic] = lane
        recent = lane
        return lane
    }
}
