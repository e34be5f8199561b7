import Groundwork

/// Bytes as Oracle's mobile SDK writes them: a name in braces, then base64 (OAMMS B18).
struct PrefixedText: Equatable {
    /// Without the braces.
    let name: String
    let bytes: [UInt8]

    init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// - Parameter limit: the most bytes.
    init(parsing text: String, limit: Int) throws(FormatError) {
        guard !text.isEmpty else { throw .emptyText }
        guard text.utf8.count <= 128 + (limit + 2) / 3 * 4 else { throw .tooLong }
        let parts = text.utf8.split(separator: UInt8(ascii: "}"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].first == UInt8(ascii: "{"),
            let bytes = Base64.decode(String(decoding: parts[1], as: UTF8.self))
        else { throw .notPrefixed }
        name = String(decoding: parts[0].dropFirst(), as: UTF8.self)
        guard !bytes.isEmpty else { throw .emptyText }
        self.bytes = bytes
    }

    var text: String { "{\(name)}\(Base64.encode(bytes))" }
}
