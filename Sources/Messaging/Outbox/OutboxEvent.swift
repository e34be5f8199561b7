import Groundwork

/// Something that happened to messages in an ``Outbox``.
public enum OutboxEvent: Sendable, Equatable {
    /// Messages were dropped; `total` counts all of them since the outbox was created.
    case dropped(count: Int, DropReason, total: Int)
    /// A message became a dead letter and is no longer sent; see ``Outbox/deadLetters()``.
    case deadLetter(DeadLetter)

    public enum DropReason: String, Sendable, CaseIterable {
        case full
        case expired
        case unsendable
        case formerIdentity

        fileprivate var text: String {
            switch self {
            case .full: "the outbox was full"
            case .expired: "they waited too long"
            case .unsendable: "they cannot be sent"
            case .formerIdentity: "they were accepted for a device identity that this board no longer has"
            }
        }
    }
}

extension OutboxEvent: ReportedEvent {
    public var report: EventReport {
        switch self {
        case .dropped(let count, let reason, let total):
            // Not trouble: the user gave up the identity and was told.
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
