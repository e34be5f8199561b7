import Glibc

/// The directory that holds the agent's databases, for this process alone.
final class StateDirectory: Sendable {
    let path: String
    private let lock: Int32

    /// Makes the directory where it is missing, and takes its lock for as long as this value lives.
    ///
    /// - Throws: ``AgentError/stateDirectory(path:reason:)``, also when another agent uses it.
    init(_ path: String) throws(AgentError) {
        self.path = path
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw Self.failure(path) }
        var status = stat()
        guard stat(path, &status) == 0 else { throw Self.failure(path) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .stateDirectory(path: path, reason: "it is no directory") }
        guard status.st_mode & 0o077 == 0 else {
            throw .stateDirectory(path: path, reason: "others may look into it (its mode is not 0700)")
        }
        let descriptor = open("\(path)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let reason = errno == EWOULDBLOCK ? "another agent uses it" : String(cString: strerror(errno))
            close(descriptor)
            throw .stateDirectory(path: path, reason: reason)
        }
        // Last, as a throw after it would run `deinit`, which closes it.
        lock = descriptor
    }

    deinit { close(lock) }

    private static func failure(_ path: String) -> AgentError {
        .stateDirectory(path: path, reason: String(cString: strerror(errno)))
    }
}
