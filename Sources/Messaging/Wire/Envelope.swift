import FoundationEssentials
import Groundwork

/// A message with its sender, as the gateway's clients write it (MAG 9.3).
public struct Envelope: Sendable, Equatable {
    public enum SenderType: String, Sendable, CaseIterable {
        case user = "USER"
        case device = "DEVICE"
        case group = "GROUP"
        case application = "APPLICATION"
    }

    public var version = "1.0"
    public var senderID: String?
    /// In uppercase.
    public var senderType: String
    public var displayName: String?
    /// To the millisecond; `nil` if the sender does not say.
    public var sentAt: Date?
    public var contentType: String
    public var payload: [UInt8]
    /// The topic that the sender names, which may differ from the one it was sent to.
    public var topic: String?

    public init(
        from senderID: String, _ senderType: SenderType, displayName: String? = nil, sentAt: Date?,
        contentType: String = "text/plain", payload: [UInt8], topic: String? = nil
    ) {
        self.senderID = senderID
        self.senderType = senderType.rawValue
        self.displayName = displayName ?? senderID
        self.sentAt = sentAt
        self.contentType = contentType
        self.payload = payload
        self.topic = topic
    }

    /// The envelope as JSON, its payload in base 64 on one line.
    ///
    /// - Throws: ``MessagingError/emptyPayload``: the reference clients reject an envelope without one.
    public func encode() throws(MessagingError) -> [UInt8] {
        guard !payload.isEmpty else { throw .emptyPayload }
        var members: [String: JSON] = [
            "Version": .string(version), "SenderType": .string(senderType), "ContentType": .string(contentType),
            "ContentEncoding": "BASE64", "Payload": .string(Base64.encode(payload)),
        ]
        members["SentTime"] = sentAt.map { .integer(Int64(($0.timeIntervalSince1970 * 1000).rounded())) }
        members["SenderId"] = senderID.map { .string($0) }
        members["DisplayName"] = displayName.map { .string($0) }
        members["Topic"] = topic.map { .string($0) }
        return JSON.object(members).bytes
    }
}
