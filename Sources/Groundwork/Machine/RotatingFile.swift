import Glibc

/// A log of lines in a file of bounded size. Beyond its limit the file is renamed to `NAME.1`, replacing the one renamed
/// before.
///
/// Only its owner may read it (mode 0600), and it is never opened through a link. Not synchronized: use it from one
/// actor, on a thread that may wait for the disk.
public struct RotatingFile: Sendable {
    private static let lineFeed = UInt8(ascii: "\n")

    public let path: String
    /// The size, in bytes, beyond which the file is renamed.
    private let limit: Int

    public init(_ path: String, limit: Int) { (self.path, self.limit) = (path, limit) }

    /// Adds a line, which has no line feed. It is on disk when this returns.
    public func append(_ line: [UInt8]) throws(FileFault) {
        var status = stat()
        if stat(path, &status) == 0, Int(status.st_size) >= limit { rename(path, "\(path).1") }
        let descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system(Errno(errno)) }
        defer { close(descriptor) }
        // A line left incomplete by a power cut must not spoil this one.
        let bytes = (endsInsideLine(descriptor) ? [Self.lineFeed] : []) + line + [Self.lineFeed]
        let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        // A regular file takes less than all only when the disk is full.
        guard written < 0 || written == bytes.count else { throw .system(Errno(ENOSPC)) }
        guard written >= 0, fdatasync(descriptor) == 0 else { throw .system(Errno(errno)) }
    }

    private func endsInsideLine(_ descriptor: CInt) -> Bool {
        let end = lseek(descriptor, 0, SEEK_END)
        var last: UInt8 = 0
        return end > 0 && pread(descriptor, &last, 1, end - 1) == 1 && last != Self.lineFeed
    }

    /// The lines of both files, the newest first; the renamed file is read only when they are needed. A file that
    /// cannot be read has none.
    public var newestLines: some Sequence<ArraySlice<UInt8>> {
        [path, "\(path).1"].lazy.flatMap { path in
            // The last line may be beyond the limit.
            let bytes = (try? BoundedFile.read(path, limit: limit + 65_536)) ?? []
            return bytes.split(separator: Self.lineFeed).reversed()
        }
    }
}
