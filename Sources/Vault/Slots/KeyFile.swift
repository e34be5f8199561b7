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
        let outcome: Result<[UInt8], VaultError>
        do throws(FileFault) {
            let file = try OpenedFile(path)
            if let fault = fault(of: try file.status(), ownership, path) {
                outcome = .failure(fault)
            } else {
                outcome = .success(try BoundedFile.read(file.descriptor, limit: length.upperBound))
            }
        } catch .system(Errno(ENOENT)) {
            return nil
        } catch {
            throw .keyUnreadable(path: path, reason: error.description)
        }
        var bytes = try outcome.get()
        defer { wipe(&bytes) }
        // It may have become shorter since it was judged.
        guard length.contains(bytes.count) else { throw lengthFault(bytes.count, path) }
        return SecretBytes(bytes)
    }

    private static func fault(of found: stat, _ ownership: Ownership, _ path: String) -> VaultError? {
        guard found.st_mode & S_IFMT == S_IFREG else { return .keyUnreadable(path: path, reason: "not a regular file") }
        if case .strict = ownership {
            let mode = UInt32(found.st_mode) & 0o777
            guard mode & 0o077 == 0 else { return .permissionsTooOpen(path: path, mode: mode) }
            guard found.st_uid == geteuid() || found.st_uid == 0 else {
                return .keyFileOfOther(path: path, owner: found.st_uid)
            }
        }
        return length.contains(Int(found.st_size)) ? nil : lengthFault(Int(found.st_size), path)
    }

    private static func lengthFault(_ count: Int, _ path: String) -> VaultError {
        .keyLength(path: path, bytes: count, least: length.lowerBound, most: length.upperBound)
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
        let directory = open(path.parentDirectory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw unwritable(path) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw unwritable(path) }
    }

    private static func unwritable(_ path: String) -> VaultError {
        .keyUnwritable(path: path, reason: String(cString: strerror(errno)))
    }
}
