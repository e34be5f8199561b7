import Glibc

/// Writes files that a person asked for.
enum Output {
    /// - Throws: ``InputError/unwritable(name:reason:)`` if no file can be made in a directory.
    ///
    /// - Returns: whether it was made, for this user alone.
    static func makeDirectory(_ path: String) throws(InputError) -> Bool {
        let isNew = mkdir(path, 0o700) == 0
        // The slash makes a file an error of its own.
        guard access(path + "/", W_OK | X_OK) == 0 else {
            throw .unwritable(name: path, reason: String(cString: strerror(errno)))
        }
        return isNew
    }

    /// Writes a file, in place of one that is there.
    ///
    /// - Throws: ``InputError/unwritable(name:reason:)``
    static func file(_ path: String, _ bytes: [UInt8]) throws(InputError) {
        let place = try OutputPlace(of: path)
        let draft = place.isNode ? place.path : "\(place.path).\(UInt64.random(in: 0 ... .max))"
        let descriptor = try place.isNode ? place.openNode() : place.makeDraft(draft)
        guard descriptor >= 0 else { throw place.unwritable }
        defer { close(descriptor) }
        do throws(InputError) {
            try write(bytes, to: descriptor, path)
            if !place.isNode { try place.take(draft, descriptor) }
        } catch {
            if !place.isNode { unlink(draft) }
            throw error
        }
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
        let place = try OutputPlace(of: path)
        let descriptor = place.openNode()
        guard descriptor >= 0 else { throw place.unwritable }
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
