import Cryptography
import Glibc

/// A file that somebody wrote for the agent: read whole, but never more than a limit.
enum SmallFile {
    struct Failure: Error, Equatable {
        let reason: String
    }

    /// - Parameter isSecret: whether to refuse a file that others than its owner may read.
    static func read(_ path: String, limit: Int, isSecret: Bool = false) throws(Failure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(reason: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        if isSecret {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw Failure(reason: String(cString: strerror(errno))) }
            guard status.st_mode & 0o077 == 0 else { throw Failure(reason: "others may read it (its mode is not 0600)") }
        }
        // One place for all of it: nothing of a secret stays behind where an array outgrew itself.
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + filled, $0.count - filled) }
            if count == 0 { break }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let reason = String(cString: strerror(errno))
                wipe(&bytes)
                throw Failure(reason: reason)
            }
            filled += count
        }
        guard filled <= limit else {
            wipe(&bytes)
            throw Failure(reason: "it has more than \(limit) bytes")
        }
        bytes.removeLast(bytes.count - filled)
        return bytes
    }
}
