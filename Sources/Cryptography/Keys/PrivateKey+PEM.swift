import Groundwork

extension PrivateKey {
    private static let label = "PRIVATE KEY"

    /// Reads a text with exactly one unencrypted PKCS#8 key (RFC 7468 section 10) that can sign tokens, among certificates
    /// or other text.
    ///
    /// - Throws: ``CryptographyError`` that says in which line it cannot be read, or what the text holds instead.
    @_spi(KeyBytes) public convenience init(pem: SecretBytes) throws(CryptographyError) {
        let blocks = try PEM.blocks(in: pem.exposedText(), .privateKey).filter { $0.label.hasSuffix(Self.label) }
        guard let block = blocks.first else {
            throw .malformed(.privateKey, reason: "there is no line -----BEGIN PRIVATE KEY-----")
        }
        guard blocks.count == 1 else {
            throw .malformed(.privateKey, reason: "lines \(block.line) and \(blocks[1].line) begin one each")
        }
        guard block.label == Self.label else { throw Self.notPlain(block) }
        try self.init(pkcs8: SecretBytes(try block.der(.privateKey)))
        try checkSignsTokens()
    }

    /// The error for a key that is encrypted, or has a format of old.
    static func notPlain(_ block: PEM.Block) -> CryptographyError {
        let kind = block.label.hasPrefix("ENCRYPTED") ? "an encrypted key" : "a key of another format"
        return .malformed(
            .privateKey,
            reason: "line \(block.line) begins \(kind); openssl pkcs8 -topk8 -nodes -in FILE writes it as PKCS#8")
    }
}
