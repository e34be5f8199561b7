import FoundationEssentials
import Glibc
import Groundwork

extension Envelope {
    /// The longest text that is read as an envelope, in bytes: 1 MiB.
    public static let limit = 1 << 20
    /// The longest identifier, name or type that is accepted, in bytes.
    private static let fieldLimit = 4096

    /// Reads the envelopes of either reference client: base 64 on one line or several, any `ContentEncoding`, and
    /// their defaults for absent fields.
    ///
    /// - Returns: `nil` if it is not an envelope, so that the payload is delivered unchanged: it is not a JSON object,
    ///   lacks a `Payload` in base 64, or has neither `SentTime` nor another member that tells it from a reading.
    public init?(decoding bytes: [UInt8]) {
        guard Self.looksLikeEnvelope(bytes), let json = try? JSON(parsing: bytes, limit: Self.limit),
            let text = json["Payload"]?.string,
            let payload = Self.decode(text), !payload.isEmpty
        else { return nil }
        func field(_ name: String) -> String? {
            json[name]?.string.flatMap { $0.isEmpty || $0.utf8.count > Self.fieldLimit ? nil : $0 }
        }
        let sentAt = json["SentTime"]?.integer
        guard sentAt != nil || ["Version", "SenderId", "SenderType"].contains(where: { field($0) != nil }) else {
            return nil
        }
        version = field("Version") ?? "1.0"
        senderID = field("SenderId")
        senderType = field("SenderType")?.uppercased() ?? SenderType.user.rawValue
        displayName = field("DisplayName") ?? senderID
        // Years 1 to 9999: the date must survive being written as milliseconds again.
        self.sentAt = sentAt.map { sentAt in
            let plausible = min(max(sentAt, -62_135_596_800_000), 253_402_300_799_999)
            return Date(timeIntervalSince1970: Double(plausible) / 1000)
        }
        contentType = field("ContentType") ?? "text/plain"
        self.payload = payload
        topic = field("Topic")
    }

    /// Keeps readings, other objects and plain payloads away from the parser. In JSON, only an escape lets a name stand
    /// there without its own characters.
    static func looksLikeEnvelope(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= limit,
            bytes.first(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }) == UInt8(ascii: "{")
        else { return false }
        return bytes.withUnsafeBufferPointer { text in
            text.indices.contains { place in
                switch text[place] {
                case UInt8(ascii: "P"): place + 7 <= text.count && memcmp(text.baseAddress! + place, "Payload", 7) == 0
                case UInt8(ascii: "\\"): place + 1 < text.count && text[place + 1] == UInt8(ascii: "u")
                default: false
                }
            }
        }
    }

    /// Base 64 with or without line breaks and padding.
    private static func decode(_ text: String) -> [UInt8]? {
        if let bytes = Base64.decode(text) { return bytes }
        let joined = text.utf8.filter { $0 != 0x0A && $0 != 0x0D && $0 != 0x20 && $0 != 0x09 }
        guard joined.count < text.utf8.count else { return nil }
        return Base64.decode(String(decoding: joined, as: UTF8.self))
    }
}
