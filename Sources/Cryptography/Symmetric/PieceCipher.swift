/// AES-256-GCM over a text in pieces: none can be left out, repeated, moved or added unnoticed.
///
/// The nonce of a piece is a prefix of 7 random bytes, its number as 4 bytes, big-endian, and a byte that is 1 for the
/// last piece, else 0: the construction STREAM (Hoang, Reyhanitabar, Rogaway and Vizár, CRYPTO 2015, section 7). The
/// same additional data is authenticated with each piece.
///
/// One value either seals one text or opens one, from its first piece to its last.
public struct PieceCipher: ~Copyable {
    /// Bytes of the random part of the nonces.
    public static let prefixBytes = 7
    /// Bytes that a sealed piece has more than its plain text.
    public static let tagBytes = AESGCM.tagBytes

    private let key: SecretBytes
    private let prefix: [UInt8]
    private let authenticating: [UInt8]
    /// `nil` after the last piece.
    private var next: UInt32? = 0

    /// - Parameters:
    ///   - key: 32 bytes. To seal with it, no other text may have the same key and prefix.
    ///   - prefix: ``prefixBytes`` random bytes.
    /// - Throws: ``CryptographyError``
    public init(key: SecretBytes, prefix: [UInt8], authenticating: [UInt8]) throws(CryptographyError) {
        guard prefix.count == Self.prefixBytes else {
            throw .invalidParameter(operation: "use a nonce", reason: "its prefix has \(prefix.count) bytes")
        }
        (self.key, self.prefix, self.authenticating) = (key, prefix, authenticating)
    }

    /// - Returns: the cipher text and its tag (16 bytes).
    /// - Throws: ``CryptographyError``, also for a piece after the last one, or after 2³² − 1 pieces.
    public mutating func seal(_ piece: SecretBytes, isLast: Bool) throws(CryptographyError) -> [UInt8] {
        let nonce = try takeNonce("seal", isLast: isLast)
        return try AESGCM.seal(piece, key: key, nonce: nonce, authenticating: authenticating)
    }

    /// - Throws: ``CryptographyError/notAuthentic`` if it is not the next piece, or not the last one as `isLast` says.
    public mutating func open(_ sealed: [UInt8], isLast: Bool) throws(CryptographyError) -> SecretBytes {
        let nonce = try takeNonce("open", isLast: isLast)
        guard sealed.count >= Self.tagBytes else { throw .malformed(.sealedText, reason: "it is truncated") }
        return try AESGCM.open(sealed[...], key: key, nonce: nonce, authenticating: authenticating)
    }

    private mutating func takeNonce(_ operation: String, isLast: Bool) throws(CryptographyError) -> [UInt8] {
        guard let number = next, number < .max else {
            throw .invalidParameter(operation: operation, reason: "there is no piece after the last one")
        }
        next = isLast ? nil : number + 1
        return prefix + withUnsafeBytes(of: number.bigEndian) { Array($0) } + [isLast ? 1 : 0]
    }
}
