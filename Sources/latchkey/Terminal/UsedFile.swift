import Glibc
import Groundwork

/// A file whose content is stored elsewhere by now, and should not be in two places.
enum UsedFile {
    /// Overwrites a file with zeros and removes it; what the disk has kept of it elsewhere stays.
    ///
    /// - Throws: ``InputError/unwritable(name:reason:)``; the file may be there still.
    static func erase(_ path: String) throws(InputError) {
        // A link may lead to a file that others need.
        let descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(path) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
            throw .unwritable(name: path, reason: "it is not a file with one name, so it was not removed")
        }
        let zeros = [UInt8](repeating: 0, count: 1 << 16)
        var offset: off_t = 0
        while offset < status.st_size {
            let count = pwrite(descriptor, zeros, min(zeros.count, Int(status.st_size - offset)), offset)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(path) }
            offset += off_t(count)
        }
        guard fsync(descriptor) == 0, unlink(path) == 0 else { throw failure(path) }
    }

    /// By `errno`.
    private static func failure(_ path: String) -> InputError {
        .unwritable(name: path, reason: "it was not removed: \(String(cString: strerror(errno)))")
    }
}
