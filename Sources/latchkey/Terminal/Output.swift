import Glibc

/// Writes files that a person asked for.
enum Output {
    /// - Throws: ``InputError/unwritable(name:reason:)``
    static func file(_ path: String, _ bytes: [UInt8]) throws(InputError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .unwritable(name: path, reason: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .unwritable(name: path, reason: String(cString: strerror(errno))) }
            rest = rest.dropFirst(count)
        }
    }
}
