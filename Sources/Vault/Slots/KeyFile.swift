import Cryptography
import Glibc
import Groundwork

/// Reads and makes files that hold a key. All calls are checked on the open descriptor, so that the file judged is the
/// file read.
enum KeyFile {
    /// Fewer bytes are no secret, more are no key.
    static let length = 16...4096

    enum Ownership {
        /// Mode 0600 or less, owned by this user or root.
        case strict
        /// Whatever systemd has set: it keeps others out by the directory, and its access lists show as a group mode.
        case systemd
    }

    /// `nil` when there is no such file.
    static func read(_ path: String, _ ownership: Ownership) throws(VaultError) -> SecretBytes? {
        // Not blocking: a pipe in the file's place must not hold the start.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw VaultError.keyUnreadable(path: path, reason: String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var found = stat()
        guard fstat(descriptor, &found) == 0 else {
            throw VaultError.keyUnreadable(path: path, reason: String(cString: strerror(errno)))
        }
        guard found.st_mode & S_IFMT == S_IFREG else {
            throw VaultError.keyUnreadable(path: path, reason: "not a regular file")
        }
        if case .strict = ownership { try check(found, path) }
        let count = Int(found.st_size)
        guard length.contains(count) else {
            throw VaultError.keyLength(path: path, bytes: count, least: length.lowerBound, most: length.upperBound)
        }
        return try read(descriptor, count: count, path)
    }

    private static func check(_ found: stat, _ path: String) throws(VaultError) {
        let mode = UInt32(found.st_mode) & 0o777
        guard mode & 0o077 == 0 else { throw VaultError.permissionsTooOpen(path: path, mode: mode) }
        guard found.st_uid == geteuid() || found.st_uid == 0 else {
            throw VaultError.keyFileOfOther(path: path, owner: found.st_uid)
        }
    }

    private static func read(_ descriptor: Int32, count: Int, _ path: String) throws(VaultError) -> SecretBytes {
        var bytes = [UInt8](repeating: 0, count: count)
        defer { wipe(&bytes) }
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + filled, count - filled) }
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else {
                let reason = got == 0 ? "it became shorter while it was read" : String(cString: strerror(errno))
                throw VaultError.keyUnreadable(path: path, reason: reason)
            }
            filled += got
        }
        return SecretBytes(bytes)
    }

    /// Makes a file of mode 0600 with this key, on the disk when it returns. Never over a file that is there.
    ///
    /// It has its name only when it is whole: a key cut short by a power cut would keep the agent from ever starting again.
    static func create(_ path: String, _ key: SecretBytes) throws(VaultError) {
        let draft = path + ".new"
        // What a crash has left of an earlier draft was never in use.
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw unwritable(path) }
        defer {
            close(descriptor)
            unlink(draft)
        }
        let written = key.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard written == key.count, fsync(descriptor) == 0 else { throw unwritable(path) }
        killPoint("key-file-drafted")
        // Unlike a rename, a second name takes no other file's place.
        guard link(draft, path) == 0 else { throw unwritable(path) }
        let directory = open(path.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw unwritable(path) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw unwritable(path) }
    }

    private static func unwritable(_ path: String) -> VaultError {
        .keyUnwritable(path: path, reason: String(cString: strerror(errno)))
    }
}

extension String {
    /// The directory of this path.
    fileprivate var directory: String {
        guard let slash = lastIndex(of: "/") else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }
}
