import FoundationEssentials
import Glibc

/// The directory that holds the agent's databases, for this process alone.
final class StateDirectory: Sendable {
    let path: String
    private let lock: Int32

    /// Makes the directory where it is missing, and takes its lock for as long as this value lives.
    ///
    /// - Throws: ``AgentError/stateDirectory(path:reason:)``, or ``AgentError/stateDirectoryInUse(path:)``.
    init(_ path: String) throws(AgentError) {
        self.path = path
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw Self.failure(path) }
        var status = stat()
        guard stat(path, &status) == 0 else { throw Self.failure(path) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .stateDirectory(path: path, reason: "it is no directory") }
        guard status.st_mode & 0o077 == 0 else {
            throw .stateDirectory(path: path, reason: "others may look into it (its mode is not 0700)")
        }
        var descriptor = open("\(path)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        // On a disk that became read-only the agent at least tells so.
        if descriptor < 0, errno == EROFS { descriptor = open("\(path)/lock", O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw Self.failure(path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            guard code != EWOULDBLOCK else { throw .stateDirectoryInUse(path: path) }
            throw .stateDirectory(path: path, reason: String(cString: strerror(code)))
        }
        // Last, as a throw after it would run `deinit`, which closes it.
        lock = descriptor
    }

    deinit { close(lock) }

    /// What a person has to know of the disk that a state directory lies on; `nil` when there is room on it.
    static func trouble(in path: String) -> String? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return "the disk of \(path) cannot be asked: \(String(cString: strerror(errno)))" }
        if status.f_flag & UInt(ST_RDONLY) != 0 { return "the disk of \(path) is read-only" }
        let free = UInt64(status.f_bavail) * UInt64(status.f_frsize)
        return free < leastFree ? "the disk of \(path) is full: \(free >> 10) KiB are free" : nil
    }

    /// Enough for the logs and the index of each database, in bytes.
    private static let leastFree: UInt64 = 2 << 20

    /// Names of the databases that were set aside as damaged and still lie in a state directory.
    static func setAside(in path: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { name in
            name.contains(".damaged-") && !["-wal", "-shm", "-journal"].contains { name.hasSuffix($0) }
        }.sorted()
    }

    private static func failure(_ path: String) -> AgentError {
        .stateDirectory(path: path, reason: String(cString: strerror(errno)))
    }
}
