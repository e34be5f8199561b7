import Cryptography
import Glibc
import Groundwork

/// An export that is open for reading, from one descriptor, so that the file that was checked is the one that is used.
///
/// Not `Sendable`: like the vault's file it belongs to one actor, because every call may wait for the disk.
final class ExportReader {
    /// Longer than any export.
    private static let sizeLimit = ExportFile.contentLimit + 1 << 20

    let header: ExportHeader
    private let path: String
    private let file: OpenedFile

    /// Opens a regular file, not a link, and reads its header.
    ///
    /// - Throws: ``ExportError``
    init(opening path: String) throws {
        self.path = path
        do {
            file = try OpenedFile(path, .regularWithoutLink)
            let status = try file.status()
            guard status.st_mode & S_IFMT == S_IFREG else { throw FileFault.notRegular }
            guard Int(status.st_size) <= Self.sizeLimit else {
                throw ExportError.tooLarge(path: path, limit: ExportFile.contentLimit)
            }
        } catch let fault as FileFault {
            throw ExportError.unreadable(path: path, reason: fault.description)
        }
        var offset = 0
        let descriptor = file.descriptor
        header = try ExportHeader(
            from: { try Self.read($0, at: &offset, from: descriptor, path) }, of: path)
    }

    /// The records, from the first one on.
    ///
    /// - Parameter secret: scrypt's key.
    /// - Throws: ``ExportError``
    func records(_ secret: SecretBytes) throws -> ExportRecords {
        var offset = header.bytes.count
        // It has the file until the last record is read.
        let pieces = try ExportPieces(header, secret, of: path) { [self] in
            try Self.read($0, at: &offset, from: file.descriptor, path)
        }
        return try ExportRecords(of: path, from: pieces.next)
    }

    private static func read(
        _ count: Int, at offset: inout Int, from descriptor: CInt, _ path: String
    ) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let part = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress! + filled, count - filled, off_t(offset + filled))
            }
            if part < 0, errno == EINTR { continue }
            guard part >= 0 else { throw ExportError.unreadable(path: path, reason: Errno(errno).description) }
            if part == 0 { break }
            filled += part
        }
        offset += filled
        bytes.removeLast(count - filled)
        return bytes
    }
}
