import Groundwork

/// Something that happened to messages in an ``Outbox``.
public enum OutboxEvent: Sendable, Equatable {
    /// Messages were given up; `total` counts all since the outbox was made.
    case dropped(count: Int, DropReason, total: Int)
    /// A message is kept aside and no longer sent; see ``Outbox/deadLetters()``.
    case deadLetter(DeadLetter)

    public enum DropReason: String, Sendable, CaseIterable {
        case full
        case expired
        case unsendable
        case formerIdentity

        fileprivate var text: String {
            switch self {
            case .full: "the outbox was full"
            case .expired: "they waited for too long"
            case .unsendable: "they cannot be sent"
            case .formerIdentity: "they were accepted for a device that this board no longer is"
            }
        }
    }
}

extension OutboxEvent: ReportedEvent {
    public var report: EventReport {
        switch self {
        case .dropped(let count, let reason, let total):
            // Whoever gave up the identity was told, or asked for it.
            EventReport(
                "outbox.dropped", reason == .formerIdentity ? .notable : .trouble,
                "\(count) \(count == 1 ? "message was" : "messages were") dropped: \(reason.text)",
                ["count": .integer(Int64(count)), "reason": .string(reason.rawValue), "total": .integer(Int64(total))])
        case .deadLetter(let letter):
            EventReport(
                "outbox.dead-letter", .trouble, "message \(letter.id) is no longer sent: \(letter.reason)",
                [
                    "id": .integer(letter.id), "topic": .string(letter.topic.name),
                    "bytes": .integer(Int64(letter.bytes)),
                    "remedy": "look at it with: latchkey dead-letters",
                ])
        }
    }
}
