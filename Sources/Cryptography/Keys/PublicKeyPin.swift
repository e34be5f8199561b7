import Groundwork

/// The SHA-256 of a server's SubjectPublicKeyInfo (MAG 1.4).
public struct PublicKeyPin: Sendable, Hashable {
    /// 32 bytes.
    public let sha256: [UInt8]

    /// Reads 32 bytes in hexadecimal, base 64 or base 64 for URLs, padded or not. The caller must percent-decode it.
    /// - Returns: `nil` for anything else.
    public init?(_ text: String) {
        let bytes = Hex.decode(text) ?? Base64.decode(text) ?? Base64.decode(text, alphabet: .urlSafe)
        guard let bytes, bytes.count == SHA256.byteCount else { return nil }
        sha256 = bytes
    }

    /// The pin of `key`.
    public init(of key: PublicKey) { sha256 = key.spkiSHA256 }
}
