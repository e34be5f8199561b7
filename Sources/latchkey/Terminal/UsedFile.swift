import Glibc
import Groundwork

/// A file whose content will be stored elsewhere, and should not be in two places.
struct UsedFile: ~Copyable {
    private let path: String
    private let name: String
    /// Of the folder: a link that takes its place later leads nowhere.
    private let folder: Int32
    private let before: stat

    /// Notes which file it is, before it is read.
    ///
    /// - Throws: ``InputError/unreadable(name:reason:)``
    init(_ path: String) throws(InputError) {
        let end = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
        let (parent, name) = (String(path[..<end]), String(path[end...]))
        let folder = open(parent.isEmpty ? "." : parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .unreadable(name: path, reason: String(cString: strerror(errno))) }
        var status = stat()
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            let reason = String(cString: strerror(errno))
            close(folder)
            throw .unreadable(name: path, reason: reason)
        }
        (self.path, self.name, self.folder, before) = (path, name, folder, status)
    }

    deinit { close(folder) }

    /// Overwrites the file with zeros and removes it; what the disk has kept of it elsewhere stays.
    ///
    /// - Throws: ``InputError/unwritable(name:reason:)``; the file may be there still.
    func erase() throws(InputError) {
        // A link may lead to a file that others need.
        let descriptor = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure() }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
            throw .unwritable(name: path, reason: "it is not a file with one name, so it was not removed")
        }
        guard status.st_dev == before.st_dev, status.st_ino == before.st_ino, status.st_size == before.st_size,
            status.st_mtim.tv_sec == before.st_mtim.tv_sec, status.st_mtim.tv_nsec == before.st_mtim.tv_nsec
        else {
            throw .unwritable(name: path, reason: "it has changed since it was read, so it was not removed")
        }
        let zeros = [UInt8](repeating: 0, count: 1 << 16)
        var offset: off_t = 0
        while offset < status.st_size {
            let count = pwrite(descriptor, zeros, min(zeros.count, Int(status.st_size - offset)), offset)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure() }
            offset += off_t(count)
        }
        guard fsync(descriptor) == 0, unlinkat(folder, name, 0) == 0 else { throw failure() }
    }

    /// By `errno`.
    private func failure() -> InputError {
        .unwritable(name: path, reason: "it was not removed: \(String(cString: strerror(errno)))")
    }
}
