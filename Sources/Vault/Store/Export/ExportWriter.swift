import Cryptography
import Glibc
import Groundwork
import Storage

/// Writes an export to a new file of mode 0600, record by record.
///
/// Not `Sendable`: like the vault's file it belongs to one actor, because every call may wait for the disk.
final class ExportWriter {
    private let path: String
    private let descriptor: CInt
    private var cipher: PieceCipher?
    /// Plain text that is not sealed yet: less than a piece.
    private var buffer: [UInt8] = []
    private var contentBytes = 0

    /// Creates the file. Nothing of that name may exist, not even a link.
    ///
    /// - Throws: ``ExportError/exists(path:)``, ``ExportError/unwritable(path:reason:)``, `StorageError`
    init(creating path: String) throws {
        self.path = path
        // With O_EXCL, a link is not followed (open(2)).
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw errno == EEXIST ? ExportError.exists(path: path) : Self.failure(at: path)
        }
        // Never grown: that would leave a copy of the plain text in memory.
        buffer.reserveCapacity(ExportFile.pieceBytes)
    }

    deinit {
        wipe(&buffer)
        close(descriptor)
    }

    /// Empties the file and writes the header of a new export, with keys of its own.
    ///
    /// - Parameters:
    ///   - secret: scrypt's key.
    ///   - parameters: from which the passphrase gets it.
    func begin(_ secret: SecretBytes, _ parameters: [UInt8]) throws {
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else { throw Self.failure(at: path) }
        wipe(&buffer)
        contentBytes = 0
        let prefix = try Random.bytes(PieceCipher.prefixBytes)
        let keys = try ExportKeys(secret, prefix: prefix)
        let header = ExportHeader(parameters, prefix: prefix, check: keys.check)
        cipher = try PieceCipher(key: keys.pieces, prefix: prefix, authenticating: header.bytes)
        try write(header.bytes)
        try append(FieldWriter(purpose: ExportFile.purpose).bytes)
    }

    /// - Throws: ``ExportError/tooLarge(path:limit:)``, and what writing throws
    func append(_ name: RecordName, _ kind: RecordKind, _ content: SecretBytes) throws {
        try begin(name, kind, count: content.count)
        try append(content)
    }

    /// Begins a record, whose content follows.
    func begin(_ name: RecordName, _ kind: RecordKind, count: Int) throws {
        var head = FieldWriter()
        for text in [name.scope, name.name, kind.rawValue] { head.append(text) }
        head.append(count: count)
        try append(head.bytes)
    }

    func append(_ content: SecretBytes) throws { try content.withUnsafeBytes { try append($0) } }

    private func append(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try append($0) } }

    private func append(_ bytes: UnsafeRawBufferPointer) throws {
        contentBytes += bytes.count
        guard contentBytes <= ExportFile.contentLimit else {
            throw ExportError.tooLarge(path: path, limit: ExportFile.contentLimit)
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            // The last piece is the one that is there at the end, so a full one waits until more comes.
            if buffer.count == ExportFile.pieceBytes { try seal(isLast: false) }
            let part = rest.prefix(ExportFile.pieceBytes - buffer.count)
            buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: part))
            rest = rest.dropFirst(part.count)
        }
    }

    private func seal(isLast: Bool) throws {
        let piece = SecretBytes(buffer)
        wipe(&buffer)
        guard let sealed = try cipher?.seal(piece, isLast: isLast) else { return }
        try write(ExportFile.PieceHead(count: piece.count, isLast: isLast).encoded() + sealed)
    }

    /// Writes the last piece. The file and its name are on the disk when this returns.
    func finish() throws {
        try seal(isLast: true)
        guard fsync(descriptor) == 0 else { throw Self.failure(at: path) }
        try PlainFile.syncNames(beside: path)
    }

    /// Removes the file.
    func discard() { unlink(path) }

    private func write(_ bytes: [UInt8]) throws {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + written, $0.count - written) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure(at: path) }
            written += count
        }
    }

    private static func failure(at path: String) -> any Error {
        let reason = errno
        return switch reason {
        case ENOSPC, EDQUOT: StorageError.full(path: path)
        case EROFS: StorageError.readOnly(path: path)
        default: ExportError.unwritable(path: path, reason: Errno(reason).description)
        }
    }
}
