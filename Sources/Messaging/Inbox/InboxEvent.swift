public import Groundwork

/// Something that happened to messages in an ``InboxStore``.
public enum InboxEvent: Sendable, Equatable {
    /// Messages are being dropped; reported once until none was dropped for a minute. `total` counts those of this
    /// inbox, ever.
    case dropped(inbox: String, DropReason, total: Int)
    /// Messages were dropped that were kept for an identity which this board no longer has.
    case formerIdentity(count: Int)
    /// The file was damaged and is kept under this path.
    case setAside(path: String)
    /// Messages cannot be kept: those of QoS 1 stay at the broker. Reported once, until they are kept again.
    case notKept(MessagingError)
    /// The broker is asked for what it still has.
    case keptAgain

    public enum DropReason: String, Sendable, CaseIterable {
        case full
        case expired

        fileprivate var text: String { self == .full ? "it is full" : "they were too old" }
    }
}

extension InboxEvent: ReportedEvent {
    public static let meanings = [
        "inbox.dropped": "an inbox is full, or its messages too old: the oldest are dropped, and counted in the status",
        "inbox.kept-again": "messages for inboxes can be kept again, and are fetched from the broker",
        "inbox.not-kept": "messages for inboxes cannot be written, and stay at the broker until they can",
        "inbox.former-identity": "messages for an identity that this board no longer has were dropped",
        "inbox.set-aside":
            "the file of the inboxes was damaged and is kept; there is a new one; of earlier ones the newest three stay",
    ]

    public static var details: [String: Schema] {
        [
            "inbox": .string("its name"), "count": .integer("messages"), "total": .integer("messages dropped so far"),
            "reason": .string("why they were dropped", choices: DropReason.allCases.map(\.rawValue)),
        ]
    }

    public var report: EventReport {
        switch self {
        case .dropped(let inbox, let reason, let total):
            EventReport(
                "inbox.dropped", .trouble, "the oldest messages of inbox \(inbox) are dropped: \(reason.text)",
                [
                    "inbox": .string(inbox), "reason": .string(reason.rawValue), "total": .integer(Int64(total)),
                    "remedy": .string("read and acknowledge them with: latchkey inbox read \(inbox)"),
                ])
        // Not trouble: the user gave up the identity and was told.
        case .formerIdentity(let count):
            EventReport(
                "inbox.former-identity", .notable,
                "\(count) messages in inboxes were dropped: they were for an identity that this board no longer has",
                ["count": .integer(Int64(count))])
        case .setAside(let path):
            EventReport("inbox.set-aside", .trouble, "the inbox was damaged and is kept as \(path)")
        case .notKept(let error): EventReport("inbox.not-kept", error: error)
        case .keptAgain:
            EventReport(
                "inbox.kept-again", .notable, "messages for inboxes are kept again; the broker sends what it has")
        }
    }
}
