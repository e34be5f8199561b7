import FoundationEssentials
import Glibc
import Groundwork

/// The directory that holds the agent's databases, for this process alone.
package final class StateDirectory: Sendable {
    package let path: String
    private let lock: FileLock

    /// Creates the directory if it is missing, and holds its lock for as long as this value lives.
    ///
    /// A directory of another user is refused, also for root: its owner could redirect what root writes there, and
    /// could not open the files that root leaves.
    ///
    /// - Throws: ``AgentError/stateDirectory(path:reason:)``, ``AgentError/stateDirectoryInUse(path:)``, or
    ///   ``AgentError/stateDirectoryOfOther(path:owner:user:)``.
    package init(_ path: String) throws(AgentError) {
        self.path = path
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw Self.failure(path) }
        var status = stat()
        // systemd makes it a link to /var/lib/private for some services, so this one may be followed.
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        let code = errno
        defer { if directory >= 0 { close(directory) } }
        // Another user's directory may not even be opened; its owner can still be seen.
        guard (directory >= 0 ? fstat(directory, &status) : stat(path, &status)) == 0 else { throw Self.failure(path) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw .stateDirectory(path: path, reason: "it is not a directory")
        }
        guard status.st_uid == geteuid() else {
            throw .stateDirectoryOfOther(path: path, owner: status.st_uid, user: geteuid())
        }
        guard directory >= 0 else { throw .stateDirectory(path: path, reason: String(cString: strerror(code))) }
        guard status.st_mode & 0o077 == 0 else {
            throw .stateDirectory(path: path, reason: "other users may read it (its mode is not 0700)")
        }
        var descriptor = openat(directory, Self.lockName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        // On a disk that became read-only the agent can at least report that.
        if descriptor < 0, errno == EROFS {
            descriptor = openat(directory, Self.lockName, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        }
        guard descriptor >= 0 else {
            throw errno == ELOOP
                ? .stateDirectory(path: path, reason: "its file \(Self.lockName) is a link") : Self.failure(path)
        }
        do throws(Errno) {
            lock = try FileLock(of: descriptor)
        } catch {
            guard error != Errno(EWOULDBLOCK) else { throw .stateDirectoryInUse(path: path) }
            throw .stateDirectory(path: path, reason: error.description)
        }
    }

    package static let lockName = "lock"

    /// What is wrong with the disk of a state directory; `nil` if it has room.
    package static func trouble(in path: String) -> String? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else {
            return "cannot query the disk of \(path): \(String(cString: strerror(errno)))"
        }
        if status.f_flag & UInt(ST_RDONLY) != 0 { return "the disk of \(path) is read-only" }
        let free = UInt64(status.f_bavail) * UInt64(status.f_frsize)
        return free < leastFree ? "the disk of \(path) is full: \(free >> 10) KiB are free" : nil
    }

    /// Enough for the logs and the index of each database, in bytes.
    private static let leastFree: UInt64 = 2 << 20

    /// Removes the outboxes and inboxes of all gateways, which must not be open.
    ///
    /// - Throws: ``AgentError/stateDirectory(path:reason:)``
    package static func removeMessages(in path: String) throws(AgentError) {
        // As `BrokerSession` names them.
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: path)
            for name in names where ["outbox-", "inbox-"].contains(where: name.hasPrefix) {
                try FileManager.default.removeItem(atPath: "\(path)/\(name)")
            }
        } catch {
            throw .stateDirectory(path: path, reason: "cannot remove the messages: \(error)")
        }
    }

    /// Names of the databases that were set aside as damaged and are still in a state directory.
    package static func setAside(in path: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { name in
            name.contains(".damaged-") && !["-wal", "-shm", "-journal"].contains { name.hasSuffix($0) }
        }.sorted()
    }

    private static let vaultSetAside = "vault.db.damaged-"

    /// Removes the vaults that were set aside as damaged, with their logs.
    package static func removeSetAside(in path: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in names where name.hasPrefix(vaultSetAside) { unlink("\(path)/\(name)") }
    }

    private static func failure(_ path: String) -> AgentError {
        .stateDirectory(path: path, reason: String(cString: strerror(errno)))
    }
}
