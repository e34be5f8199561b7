import Cryptography

/// A text that a symmetric key of the vault has sealed: `LKE1`, the id of the key (16 bytes), then what
/// ``AESGCM/seal(_:key:authenticating:)`` gives: nonce (12 bytes), cipher text, tag (16 bytes).
struct Envelope: Equatable {
    private static let mark = Array("LKE1".utf8)
    static let keyIDBytes = 16
    /// Bytes that an envelope has more than its text.
    static let overhead = mark.count + keyIDBytes + 28
    /// The maximum size of a text, in bytes: 1 MiB.
    static let limit = 1 << 20

    let keyID: [UInt8]
    let sealed: [UInt8]

    init(keyID: [UInt8], sealed: [UInt8]) {
        self.keyID = keyID
        self.sealed = sealed
    }

    /// `nil` for what is no envelope.
    init?(parsing bytes: [UInt8]) {
        guard (Self.overhead...Self.overhead + Self.limit).contains(bytes.count), bytes.starts(with: Self.mark) else {
            return nil
        }
        let rest = bytes.dropFirst(Self.mark.count)
        self.init(keyID: Array(rest.prefix(Self.keyIDBytes)), sealed: Array(rest.dropFirst(Self.keyIDBytes)))
    }

    var bytes: [UInt8] { Self.mark + keyID + sealed }

    /// What is authenticated with the text, so that it opens only for the same owner and name: the user ID as 4 bytes,
    /// big-endian, and the name of the key in UTF-8.
    static func label(of owner: UInt32, _ name: String) -> [UInt8] {
        withUnsafeBytes(of: owner.bigEndian) { Array($0) } + Array(name.utf8)
    }
}
