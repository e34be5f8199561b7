/// Decides which messages may be in flight to the broker together, and knows each of them until it is complete.
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

    private struct Entry {
        let id: Int64
        let size: Int
        /// `nil` once the outbox has counted it out.
        var weight: OutboxWeight?
        /// `nil` once it is in flight: its bytes are needed no longer.
        var message: QueuedMessage?
        /// Set while it is in flight.
        var lane: Lane?

        /// Whether nothing more is to be done with it.
        var isComplete: Bool { message == nil && lane == nil }

        init(_ message: QueuedMessage) {
            (id, size, weight, self.message) = (message.id, message.size, message.weight, message)
        }
    }

    private var lanes: [Topic: Lane] = [:]
    /// The lane used last, as messages of one topic often follow each other: its name need not be hashed.
    private var recent: Lane?
    /// In the order of their numbers. Those before `start` are complete, and those from `waiting` on were not sent.
    private var entries: [Entry] = []
    private var start = 0
    private var waiting = 0
    private var bytes = 0

    /// How many are in flight.
    private(set) var count = 0

    init(limit: Int) { self.limit = limit }

    /// How many messages to fetch now: none while some are waiting or more than half of the window is in flight, so
    /// that messages are fetched and written in batches.
    var room: Int { waiting == entries.count && count <= limit / 2 ? limit - count : 0 }
    var byteRoom: Int { max(1, Self.byteLimit - bytes) }

    /// - Parameter messages: in the order of their numbers, above all that were added before.
    mutating func add(_ messages: [QueuedMessage]) {
        for message in messages { entries.append(Entry(message)) }
    }

    /// The messages that may be sent now; they count as in flight from here on.
    mutating func ready() -> [QueuedMessage] {
        var ready: [QueuedMessage] = []
        while waiting < entries.count, count < limit {
            // Complete without having been sent.
            guard let next = entries[waiting].message else {
                waiting += 1
                continue
            }
            guard bytes == 0 || bytes + next.size <= Self.byteLimit else { break }
            let lane = lane(of: next.message)
            guard lane.qos == next.message.qos else { break }
            lane.count += 1
            (entries[waiting].message, entries[waiting].lane) = (nil, lane)
            waiting += 1
            count += 1
            bytes += next.size
            ready.append(next)
        }
        return ready
    }

    /// What the message takes in the outbox; `nil` if it is not one of these, or was counted out.
    func weight(of id: Int64) -> OutboxWeight? { place(of: id).flatMap { entries[$0].weight } }

    /// The outbox has counted the message out. It stays in flight, if it is.
    mutating func countOut(_ id: Int64) {
        if let place = place(of: id) { entries[place].weight = nil }
    }

    mutating func countAllOut() {
        for place in entries.indices { entries[place].weight = nil }
    }

    /// - Returns: what the message took in the outbox, unless it was counted out.
    @discardableResult
    mutating func complete(_ id: Int64) -> OutboxWeight? {
        guard let place = place(of: id), !entries[place].isComplete else { return nil }
        let weight = entries[place].weight
        if let lane = entries[place].lane { leave(lane, entries[place].size) }
        (entries[place].weight, entries[place].message, entries[place].lane) = (nil, nil, nil)
        while start < entries.count, entries[start].isComplete { start += 1 }
        if start == entries.count {
            entries.removeAll(keepingCapacity: start <= 64)
            (start, waiting) = (0, 0)
        } else if start >= 64, start * 2 >= entries.count {
            entries.removeFirst(start)
            (start, waiting) = (0, max(0, waiting - start))
        }
        return weight
    }

    private mutating func leave(_ lane: Lane, _ size: Int) {
        count -= 1
        bytes -= size
        lane.count -= 1
        guard lane.count == 0 else { return }
        lanes[lane.topic] = nil
        if recent === lane { recent = nil }
    }

    /// Messages are mostly acknowledged in the order in which they were sent.
    private func place(of id: Int64) -> Int? {
        guard start < entries.count else { return nil }
        if entries[start].id == id { return start }
        var (low, high) = (start, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].id == id ? low : nil
    }

    private mutating func lane(of message: OutgoingMessage) -> Lane {
        if let recent, recent.topic == message.topic { return recent }
        let lane = lanes[message.topic] ?? Lane(message)
        lanes[message.topic] = lane
        recent = lane
        return lane
    }
}
