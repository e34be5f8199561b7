import Cryptography

/// The format of an export: a header, and sealed pieces.
///
///     latchkey-export 1⏎
///     the parameters of scrypt (RFC 7914), as a passphrase's slot has them: 54 bytes
///     the random part of the nonces: 7 bytes
///     the check value of the key: 32 bytes
///     SHA-256 of everything before: 32 bytes
///     pieces, each: 4 bytes, big-endian, whose highest bit is set for the last piece and whose others are the length
///         of the plain text; the cipher text; the tag: 16 bytes
///
/// Every piece but the last has 64 KiB of plain text. Each is sealed by ``PieceCipher`` with the header as additional
/// data. The key of the pieces and the check value come from scrypt's key by HKDF-SHA256 (RFC 5869), with the random
/// part of the nonces as salt, so that a wrong passphrase can be told apart from damage, and no two exports have a key
/// in common.
///
/// The plain text is ``FieldWriter``'s: the purpose, then scope, name, kind and content of each record, sorted by scope
/// and name.
enum ExportFile {
    static let version = 1
    static let title = "latchkey-export "
    static let purpose = "latchkey export records 1"

    /// The most bytes of plain text of a piece.
    static let pieceBytes = 64 << 10
    static let checkBytes = 32
    /// The most bytes of plain text of an export: restoring is one commit, which the disk has to have room for twice.
    static let contentLimit = 64 << 20

    /// A piece as the word before it says.
    struct PieceHead: Equatable {
        static let byteCount = 4
        private static let lastBit: UInt32 = 1 << 31

        /// Bytes of plain text.
        let count: Int
        let isLast: Bool

        init(count: Int, isLast: Bool) {
            self.count = count
            self.isLast = isLast
        }

        /// `nil` for a length that no piece has.
        init?(decoding bytes: [UInt8]) {
            guard bytes.count == Self.byteCount else { return nil }
            let word = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            count = Int(word & ~Self.lastBit)
            isLast = word & Self.lastBit != 0
            guard isLast ? count <= pieceBytes : count == pieceBytes else { return nil }
        }

        func encoded() -> [UInt8] {
            let word = UInt32(count) | (isLast ? Self.lastBit : 0)
            return withUnsafeBytes(of: word.bigEndian) { Array($0) }
        }
    }
}

/// What the passphrase of an export opens.
struct ExportKeys {
    let pieces: SecretBytes
    let check: [UInt8]

    /// - Parameters:
    ///   - secret: scrypt's key.
    ///   - prefix: the random part of the nonces.
    init(_ secret: SecretBytes, prefix: [UInt8]) throws(CryptographyError) {
        func derived(_ purpose: String, _ count: Int) throws(CryptographyError) -> SecretBytes {
            try KeyDerivation.hkdf(secret: secret, salt: prefix, info: Array(purpose.utf8), count: count)
        }
        pieces = try derived("latchkey export pieces 1", Seal.keyBytes)
        check = try derived("latchkey export check 1", ExportFile.checkBytes).exposed()
    }
}
