import Glibc
import Groundwork

/// A file that was not there before, which only its owner may read.
struct NewFile: ~Copyable {
    private let path: String
    private let descriptor: CInt
    private var isComplete = false

    /// Creates it. Nothing of that name may exist, not even a link.
    ///
    /// - Throws: ``InputError/unwritable(name:reason:)``
    init(_ path: String) throws(InputError) {
        self.path = path
        // With O_EXCL, a link is not followed (open(2)).
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    /// Removes what is not complete.
    deinit {
        close(descriptor)
        if !isComplete { unlink(path) }
    }

    /// Fails early, before a person is asked anything, if something of that name exists.
    ///
    /// - Throws: ``InputError/unwritable(name:reason:)``
    static func check(_ path: String) throws(InputError) {
        var status = stat()
        guard lstat(path, &status) != 0 else {
            throw .unwritable(name: path, reason: String(cString: strerror(EEXIST)))
        }
    }

    /// - Throws: ``InputError/unwritable(name:reason:)``
    func write(_ piece: ArraySlice<UInt8>) throws(InputError) {
        var rest = piece
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure(path) }
            rest = rest.dropFirst(count)
        }
    }

    /// The file stays, and is on the disk when this returns.
    ///
    /// - Throws: ``InputError/unwritable(name:reason:)``
    mutating func finish() throws(InputError) {
        guard fsync(descriptor) == 0 else { throw Self.failure(path) }
        let folder = open(path.parentDirectory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if folder >= 0 { close(folder) } }
        // A file system without names that can be synced, such as a remote one, says EINVAL.
        guard folder >= 0, fsync(folder) == 0 || errno == EINVAL else { throw Self.failure(path) }
        isComplete = true
    }

    /// By `errno`.
    private static func failure(_ path: String) -> InputError {
        .unwritable(name: path, reason: String(cString: strerror(errno)))
    }
}
