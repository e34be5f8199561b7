/// Content types of messages.
public enum ContentType {
    /// The most bytes of one.
    static let limit = 255

    /// - Returns: the type, if it can be one: two names with a slash between, and perhaps parameters (RFC 9110 section
    ///   8.3.1).
    /// - Throws: ``MessagingError/invalidContentType(_:)``
    public static func checked(_ text: String) throws(MessagingError) -> String {
        let names = text.prefix { $0 != ";" && $0 != " " }.split(separator: "/", omittingEmptySubsequences: false)
        guard text.utf8.count <= limit, names.count == 2,
            names.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isToken) }),
            text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { throw .invalidContentType(text.quoted) }
        return text
    }

    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$&-^_.+*%'`|~".utf8.contains(byte)
        }
    }
}
