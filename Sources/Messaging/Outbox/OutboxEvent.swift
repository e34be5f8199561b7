public import Groundwork

/// Something that happened to messages in an ``Outbox``.
public enum OutboxEvent: Sendable, Equatable {
    /// Messages were dropped; `total` counts all of them since the outbox was created.
    case dropped(count: Int, DropReason, total: Int)
    /// A message became a dead letter and is no longer sent; see ``Outbox/deadLetters()``.
    case deadLetter(DeadLetter)
    /// The outbox was damaged and is kept under this path; `rescued` messages could be read.
    case setAside(path: String, rescued: Int)

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
    public static let meanings = [
        "outbox.dead-letter": "a message is no longer sent, because the broker ended the connection on it",
        "outbox.dropped": "messages that waited were dropped; the event says how many, and why",
        "outbox.set-aside": "the outbox was damaged; its readable messages were recovered, and the file is kept",
    ]

    public static var details: [String: Schema] {
        [
            "count": .integer("messages"),
            "reason": .string("why they were dropped", choices: DropReason.allCases.map(\.rawValue)),
            "total": .integer("messages dropped so far"), "id": .integer("number of a dead letter"),
            "topic": .string("topic of a dead letter"), "bytes": .integer("length of a dead letter's payload"),
        ]
    }

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
        case .setAside(let path, let rescued):
            EventReport(
                "outbox.set-aside", .trouble,
                "the outbox was damaged and is kept as \(path); \(rescued) messages could be read and will be sent")
        }
    }
}
