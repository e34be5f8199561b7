import Glibc
import Groundwork

/// Whether the file of a PKCS#11 module is safe to load: it becomes part of this process, with all that is in its
/// memory.
struct ModuleFile {
    /// The users that a module and the folders above it may belong to.
    private let owners: Set<uid_t>

    /// - Parameter trustsThisUser: for tests, which make modules of their own.
    init(trustsThisUser: Bool) { owners = trustsThisUser ? [0, geteuid()] : [0] }

    /// The path of the file itself, without links. Between the check and the use, only the owners can change it.
    ///
    /// - Throws: ``TokenError/moduleMissing(path:)``, ``TokenError/moduleUnsafe(path:reason:)``
    func checked(_ path: String) throws(VaultError) -> String {
        guard path.hasPrefix("/") else { throw unsafe(path, "it is not an absolute path") }
        guard let resolved = realpath(path, nil) else {
            let reason = errno
            if [ENOENT, ENOTDIR].contains(reason) { throw .token(.moduleMissing(path: path)) }
            throw unsafe(path, Errno(reason).description)
        }
        defer { free(resolved) }
        let file = String(cString: resolved)
        guard try status(file).st_mode & S_IFMT == S_IFREG else { throw unsafe(file, "it is not a regular file") }
        var place = file
        while true {
            try check(place)
            guard place != "/" else { return file }
            place = place.parentDirectory
        }
    }

    private func check(_ place: String) throws(VaultError) {
        let status = try status(place)
        guard owners.contains(status.st_uid) else { throw unsafe(place, "it belongs to user \(status.st_uid)") }
        // In a folder like /tmp (mode 1777) no other user can replace what belongs to an owner (inode(7), sticky bit).
        let isSticky = status.st_mode & S_IFMT == S_IFDIR && status.st_mode & S_ISVTX != 0
        guard status.st_mode & 0o022 == 0 || isSticky else {
            let mode = String(status.st_mode & 0o7777, radix: 8)
            throw unsafe(place, "users other than its owner may write it (mode \(mode))")
        }
    }

    private func status(_ path: String) throws(VaultError) -> stat {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw unsafe(path, Errno(errno).description) }
        return status
    }

    private func unsafe(_ path: String, _ reason: String) -> VaultError {
        .token(.moduleUnsafe(path: path, reason: reason))
    }
}
