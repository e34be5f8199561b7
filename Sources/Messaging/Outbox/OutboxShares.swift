/// Whose message it is, as far as room in the outbox goes.
enum OutboxShare: Hashable, Sendable {
    case telemetry
    /// The agent's own, and those of users who have no bound.
    case unbounded
    case user(UInt32)
}

/// What a message takes of the outbox.
struct OutboxWeight: Sendable {
    var size: Int
    var share: OutboxShare
}

extension QueuedMessage {
    var weight: OutboxWeight { OutboxWeight(size: size, share: message.share) }
}

extension OutgoingMessage {
    var share: OutboxShare {
        switch (kind, publisher) {
        case (.telemetry, _): .telemetry
        case (.explicit, nil): .unbounded
        case (.explicit, let user?): .user(user)
        }
    }
}

/// The bytes that wait, by whose they are.
///
/// They matter only when the outbox is more than half full, so they are counted when it becomes so: opening a long outbox
/// need not read it.
struct OutboxShares {
    private var bytes: [OutboxShare: Int]

    init(_ bytes: [OutboxShare: Int]) { self.bytes = bytes }

    mutating func add(_ weight: OutboxWeight) { bytes[weight.share, default: 0] += weight.size }
    mutating func remove(_ weight: OutboxWeight) { bytes[weight.share, default: 0] -= weight.size }

    func bytes(of share: OutboxShare) -> Int { bytes[share] ?? 0 }
    /// All but telemetry.
    var explicit: Int { bytes.reduce(0) { $0 + ($1.key == .telemetry ? 0 : $1.value) } }
}
