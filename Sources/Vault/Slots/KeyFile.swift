import Cryptography
import Glibc
import Groundwork

/// Reads and creates key files. All checks use the open descriptor, so that the checked file is the one that is read.
enum KeyFile {
    /// The allowed number of bytes: fewer are too easy to guess, more are not a key.
    static let length = 16...4096

    enum Ownership {
        /// Mode 0600 or less, owned by this user or root.
        case strict
        /// Any mode that systemd has set: the directory keeps others out, and its access lists appear as group
        /// permissions.
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
        // It may have become shorter since the check.
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

    /// Creates a file of mode 0600 with this key, on disk when it returns. Never overwrites an existing file.
    ///
    /// The file gets its name only when it is complete: after a power cut, a truncated key would prevent the agent from
    /// ever starting again.
    static func create(_ path: String, _ key: SecretBytes) throws(VaultError) {
        let draft = path + ".new"
        // A draft that a crash has left was never in use.
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
        // Unlike a rename, a link does not replace an existing file.
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
