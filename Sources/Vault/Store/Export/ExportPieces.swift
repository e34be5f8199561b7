import Cryptography

/// Reads the sealed pieces of an export, one after the other.
final class ExportPieces {
    private let read: (Int) throws -> [UInt8]
    private let path: String
    private var cipher: PieceCipher
    private var isOver = false

    /// - Parameters:
    ///   - secret: scrypt's key.
    ///   - read: gives the next bytes after the header: as many as asked for, or fewer at the end.
    ///   - path: for errors.
    /// - Throws: ``ExportError/wrongPassphrase(path:)``
    init(_ header: ExportHeader, _ secret: SecretBytes, of path: String, from read: @escaping (Int) throws -> [UInt8])
        throws
    {
        let keys = try ExportKeys(secret, prefix: header.prefix)
        guard equalInConstantTime(keys.check, header.check) else { throw ExportError.wrongPassphrase(path: path) }
        cipher = try PieceCipher(key: keys.pieces, prefix: header.prefix, authenticating: header.bytes)
        (self.read, self.path) = (read, path)
    }

    /// The plain text of the next piece.
    ///
    /// - Returns: `nil` after the last one.
    /// - Throws: ``ExportError``, and what reading throws
    func next() throws -> SecretBytes? {
        guard !isOver else { return nil }
        let bytes = try read(ExportFile.PieceHead.byteCount)
        guard bytes.count == ExportFile.PieceHead.byteCount else { throw ExportError.cutShort(path: path) }
        guard let head = ExportFile.PieceHead(decoding: bytes) else { throw ExportError.damaged(path: path) }
        let sealed = try read(head.count + PieceCipher.tagBytes)
        guard sealed.count == head.count + PieceCipher.tagBytes else { throw ExportError.cutShort(path: path) }
        let piece = try open(sealed, isLast: head.isLast)
        if head.isLast {
            isOver = true
            guard try read(1).isEmpty else { throw ExportError.trailingBytes(path: path) }
        }
        return piece
    }

    private func open(_ sealed: [UInt8], isLast: Bool) throws -> SecretBytes {
        do throws(CryptographyError) {
            return try cipher.open(sealed, isLast: isLast)
        } catch {
            throw error == .notAuthentic ? ExportError.damaged(path: path) : error
        }
    }
}
