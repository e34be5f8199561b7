import Glibc

/// Writes files that a person asked for.
enum Output {
    /// The file that a path leads to over symbolic links, whether it is there or not.
    static func target(of path: String) -> String {
        var path = path
        // The kernel follows as many (path_resolution(7)).
        for _ in 0..<40 {
            var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(path, &bytes, bytes.count)
            guard count > 0 else { break }
            let link = String(decoding: bytes[..<count], as: UTF8.self)
            let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
            path = link.hasPrefix("/") ? link : folder + link
        }
        return path
    }

    /// - Throws: ``InputError/unwritable(name:reason:)`` if no file can be made in a directory.
    static func checkDirectory(_ path: String) throws(InputError) {
        // The slash makes a file an error of its own.
        guard access(path + "/", W_OK | X_OK) == 0 else {
            throw .unwritable(name: path, reason: String(cString: strerror(errno)))
        }
    }

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

    /// Writes a new file that only this user can read, or into what is there and is not a regular file, such as a FIFO.
    ///
    /// - Returns: `false` if there is a file of that name.
    /// - Throws: ``InputError/unwritable(name:reason:)``
    static func newFileOrNode(_ path: String, _ bytes: [UInt8]) throws(InputError) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else {
            return try newFile(path, bytes)
        }
        try file(path, bytes)
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
