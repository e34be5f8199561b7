public import Groundwork

/// Something that happened to a message, for those who do not read or write it.
public enum MessageEvent: Sendable, Equatable {
    /// A message in an envelope arrived for a subscription.
    /// - Parameter more: how many others came with it and are not reported one by one.
    case received(MessageSummary, more: Int)
    /// A message in an envelope was accepted.
    case sent(MessageSummary)
    /// A message in an envelope was not accepted.
    case notSent(MessageSummary, MessagingError)
    /// A message arrived that is too large, and was dropped.
    /// - Parameters:
    ///   - bytes: the length of its payload.
    ///   - limit: the longest payload that is taken.
    case tooLarge(topic: String, bytes: Int, limit: Int)
    /// The broker reports an error at a topic whose last level is `error` (MAG 9.2).
    case brokerReported(topic: String, text: String)

    /// The most events of messages that came together.
    static let limit = 8
    /// The longest text of the broker that is reported, in characters.
    private static let textLimit = 256

    /// The broker's report, if the message is one.
    init?(reportedBy message: IncomingMessage) {
        guard TopicNamespace.isError(message.topic) else { return nil }
        // At most what a person reads: anybody may be able to write there.
        let said = (try? JSON(parsing: message.payload, limit: 4096))?["message"]?.string
        let text = said ?? String(decoding: message.payload.prefix(Self.textLimit), as: UTF8.self)
        self = .brokerReported(
            topic: DisplayText.oneLine(message.topic, limit: Self.textLimit),
            text: DisplayText.oneLine(text, limit: Self.textLimit))
    }
}

/// What an envelope says, without its content. The sender is its own claim.
public struct MessageSummary: Sendable, Equatable {
    public var topic: String
    public var senderID: String?
    public var senderType: String
    public var contentType: String
    /// Length of the content, in bytes.
    public var bytes: Int

    /// Nothing of it is longer than a line of a log should be.
    public init(_ envelope: Envelope, topic: String) {
        self.topic = DisplayText.oneLine(topic, limit: 256)
        senderID = envelope.senderID.map { DisplayText.oneLine($0, limit: 256) }
        senderType = DisplayText.clean(envelope.senderType)
        contentType = DisplayText.clean(envelope.contentType)
        bytes = envelope.payload.count
    }

    fileprivate var sender: String { "\(senderID.map(DisplayText.clean) ?? "an unnamed sender") (\(senderType))" }

    fileprivate var fields: [String: JSON] {
        var fields: [String: JSON] = [
            "topic": .string(topic), "senderType": .string(senderType), "contentType": .string(contentType),
            "bytes": .integer(Int64(bytes)),
        ]
        fields["senderID"] = senderID.map(JSON.string)
        return fields
    }
}

extension MessageEvent: ReportedEvent {
    public static let meanings = [
        "message.broker-error": "the broker reports an error at a topic whose last level is error",
        "message.not-sent": "a message in an envelope was not accepted; its sender got the error",
        "message.received": "a message in an envelope arrived for a subscription",
        "message.sent": "a message in an envelope was accepted: the broker or the disk has it",
        "message.too-large":
            "a message larger than the agent accepts was dropped; the broker does not send it again",
    ]

    public static var details: [String: Schema] {
        [
            "topic": .string("the whole topic"), "senderID": .string("the sender's own claim"),
            "senderType": .string("the sender's own claim"), "contentType": .string("a MIME type"),
            "bytes": .integer("length of the content"), "limitBytes": .integer("maximum length"),
            "more": .integer("further messages that it includes"),
        ]
    }

    public var report: EventReport {
        switch self {
        case .received(let message, let more):
            var fields = message.fields
            if more > 0 { fields["more"] = .integer(Int64(more)) }
            return EventReport(
                "message.received", .routine,
                "a message from \(message.sender) arrived at \(message.topic)\(more > 0 ? ", and \(more) more" : "")",
                fields)
        case .sent(let message):
            return EventReport(
                "message.sent", .routine, "a message of \(message.sender) to \(message.topic) was accepted",
                message.fields)
        // Not trouble: its sender got the error.
        case .notSent(let message, let error):
            return EventReport("message.not-sent", error: error, as: .notable, message.fields)
        case .tooLarge(let topic, let bytes, let limit):
            return EventReport(
                "message.too-large", .trouble,
                "a message of \(bytes) bytes to \(topic) was dropped: at most \(limit) are accepted",
                [
                    "topic": .string(topic), "bytes": .integer(Int64(bytes)), "limitBytes": .integer(Int64(limit)),
                    "remedy": .string(
                        "find out who publishes it; a limit at the broker keeps it from being sent at all "
                            + "(message_size_limit of Mosquitto)"),
                ])
        case .brokerReported(let topic, let text):
            return EventReport(
                "message.broker-error", .notable, "the broker reports an error: \(text)", ["topic": .string(topic)])
        }
    }
}
