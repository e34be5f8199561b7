import Groundwork

/// The textual encoding of certificates (RFC 7468 sections 2 and 5).
enum PEM {
    private static let begin = "-----BEGIN CERTIFICATE-----"
    private static let end = "-----END CERTIFICATE-----"
    private static let lineLength = 64

    /// The maximum length of a text, in bytes; all public authorities of a system have 220 KB.
    static let limit = 1 << 20

    static func encode(_ der: [UInt8]) -> String {
        var lines = [begin]
        var rest = Base64.encode(der)[...]
        while !rest.isEmpty {
            lines.append(String(rest.prefix(lineLength)))
            rest = rest.dropFirst(lineLength)
        }
        return (lines + [end, ""]).joined(separator: "\n")
    }

    /// The DER bytes of every certificate. Skips text around them and white space inside.
    static func decode(_ text: String) throws(CryptographyError) -> [[UInt8]] {
        guard text.utf8.count <= limit else { throw .tooLong(.certificate, count: text.utf8.count, limit: limit) }
        var found: [[UInt8]] = []
        var inside: String?
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.filter { $0 != " " && $0 != "\t" }
            switch line {
            case begin.filter({ $0 != " " }):
                guard inside == nil else {
                    throw .malformed(.certificate, reason: "it does not end before the next begins")
                }
                inside = ""
            case end.filter({ $0 != " " }):
                guard let base64 = inside else { throw .malformed(.certificate, reason: "it ends but does not begin") }
                guard let der = Base64.decode(base64) else {
                    throw .malformed(.certificate, reason: "it is not base64")
                }
                found.append(der)
                inside = nil
            default: inside?.append(line)
            }
        }
        guard inside == nil else { throw .malformed(.certificate, reason: "it does not end") }
        return found
    }
}
