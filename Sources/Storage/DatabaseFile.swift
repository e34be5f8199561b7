import Glibc
import Groundwork

/// The files of a database as the file system sees them.
enum DatabaseFile {
    /// Suffixes of the files that SQLite keeps beside the database.
    static let companions = ["-wal", "-shm", "-journal"]

    /// Creates an empty file of mode 0600 if there is none; SQLite gives its companions the same mode.
    static func prepare(_ path: String, creating: Bool) throws(StorageError) {
        if creating {
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 || errno == EEXIST else {
                throw StorageError(systemError: errno, path: path) ?? .cannotOpen(path: path, reason: reason(errno))
            }
            if descriptor >= 0 {
                close(descriptor)
                try syncDirectory(of: path)
            }
        }
        var found = stat()
        guard stat(path, &found) == 0 else {
            throw errno == ENOENT ? .missing(path: path) : .cannotOpen(path: path, reason: reason(errno))
        }
        guard found.st_mode & S_IFMT == S_IFREG else {
            throw StorageError.cannotOpen(path: path, reason: "not a regular file")
        }
        guard creating || found.st_size > 0 else { throw StorageError.damaged(path: path, detail: "the file is empty") }
        for file in [path] + companions.map({ path + $0 }) where stat(file, &found) == 0 {
            let mode = UInt32(found.st_mode) & 0o777
            guard mode & 0o077 == 0 else { throw StorageError.permissionsTooOpen(path: file, mode: mode) }
        }
    }

    /// Durably moves the companion files of a vanished database out of the way of the next one, if there are any.
    ///
    /// - Parameter wanted: the name of the empty file that they are moved beside; a number is added if it is taken.
    static func setAsideCompanions(of path: String, as wanted: String) throws(StorageError) {
        var found = stat()
        let left = companions.filter { lstat(path + $0, &found) == 0 }
        guard !left.isEmpty else { return }
        let target = try claim(wanted)
        for companion in left where rename(path + companion, target + companion) != 0 {
            throw .cannotSetAside(path: path + companion, reason: reason(errno))
        }
        // Before the new file has its name: after a power cut it must not be found beside the old log.
        try syncDirectory(of: path)
    }

    /// Removes a database with its companions, if there is one.
    static func remove(_ path: String) {
        for file in companions.map({ path + $0 }) + [path] { unlink(file) }
    }

    /// Size in bytes, including the write-ahead log.
    static func size(of path: String) throws(StorageError) -> Int {
        var total = 0
        var found = stat()
        for file in [path, path + "-wal"] where stat(file, &found) == 0 { total += Int(found.st_size) }
        return total
    }

    /// Creates an empty file under a free name: `wanted`, or `wanted-2`, `wanted-3`, …
    ///
    /// - Returns: the path; a database can be renamed to it without overwriting any other file.
    static func claim(_ wanted: String) throws(StorageError) -> String {
        var path = wanted
        var count = 1
        while true {
            let descriptor = isTaken(path) ? -1 : open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            if descriptor >= 0 {
                close(descriptor)
                return path
            }
            let failure = errno
            guard isTaken(path) else { throw StorageError.cannotSetAside(path: path, reason: reason(failure)) }
            count += 1
            path = "\(wanted)-\(count)"
        }
    }

    private static func isTaken(_ path: String) -> Bool {
        var found = stat()
        return ([""] + companions).contains { lstat(path + $0, &found) == 0 }
    }

    /// Syncs the directory of a file, so that its names are durable.
    static func syncDirectory(of path: String) throws(StorageError) {
        let directory = path.parentDirectory
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StorageError.inputOutput(path: directory, detail: reason(errno)) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StorageError.inputOutput(path: directory, detail: reason(errno)) }
    }

    static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}
