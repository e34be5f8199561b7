import Glibc

/// Writes files that a person asked for.
enum Output {
    /// - Throws: ``InputError/unwritable(name:reason:)``
    static func file(_ path: String, _ bytes: [UInt8]) throws(InputError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .unwritable(name: path, reason: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        try write(bytes, to: descriptor, path)
    }

    /// Writes a new file that only this user can read.
    ///
    /// - Returns: `false` if there is one of that name.
    /// - Throws: ``InputError/unwritable(name:reason:)``
    static func newFile(_ path: String, _ bytes: [UInt8]) throws(InputError) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor < 0, errno == EEXIST { return false }
        guard descriptor >= 0 else { throw .unwritable(name: path, reason: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        try write(bytes, to: descriptor, path)
        return true
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(InputError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .unwritable(name: path, reason: String(cString: strerror(errno))) }
            rest = rest.dropFirst(count)
        }
    }
}
