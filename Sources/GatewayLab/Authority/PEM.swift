import Groundwork

/// Textual encoding of keys (RFC 7468), for the parts that read files: the broker and the TLS server.
enum PEM {
    static func privateKey(_ pkcs8: [UInt8]) -> String {
        let text = Array(Base64.encode(pkcs8).utf8)
        let lines = stride(from: 0, to: text.count, by: 64).map {
            String(decoding: text[$0..<min($0 + 64, text.count)], as: UTF8.self)
        }
        return (["-----BEGIN PRIVATE KEY-----"] + lines + ["-----END PRIVATE KEY-----", ""]).joined(separator: "\n")
    }

    /// The PKCS#8 bytes of the first private key in `text`.
    static func privateKey(in text: String) -> [UInt8]? {
        let lines = text.split(whereSeparator: \.isNewline)
        guard let start = lines.firstIndex(of: "-----BEGIN PRIVATE KEY-----"),
            let end = lines.firstIndex(of: "-----END PRIVATE KEY-----"), start < end
        else { return nil }
        return Base64.decode(lines[(start + 1)..<end].joined())
    }
}
