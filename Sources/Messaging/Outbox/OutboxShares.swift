/// The owner whose share of the outbox a message counts against.
enum OutboxShare: Hashable, Sendable {
    case telemetry
    /// Messages of the agent itself, and of users without a limit.
    case unbounded
    case user(UInt32)
}

/// The room that a message takes in the outbox.
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

/// The waiting bytes by owner.
///
/// They matter only when the outbox is more than half full, so they are counted only then: opening a long outbox does
/// not read it all.
struct OutboxShares {
    private var bytes: [OutboxShare: Int]

    init(_ bytes: [OutboxShare: Int]) { self.bytes = bytes }

    mutating func add(_ weight: OutboxWeight) { bytes[weight.share, default: 0] += weight.size }
    mutating func remove(_ weight: OutboxWeight) { bytes[weight.share, default: 0] -= weight.size }

    func bytes(of share: OutboxShare) -> Int { bytes[share] ?? 0 }
    /// All but telemetry.
    var explicit: Int { bytes.reduce(0) { $0 + ($1.key == .telemetry ? 0 : $1.value) } }
}
