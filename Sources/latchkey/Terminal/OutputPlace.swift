import Glibc

/// Where a file goes that a person asked for, also in a folder that others may write to.
///
/// The kernel keeps no program from following a stranger's link in a folder that is not sticky, nor by `readlink`
/// (proc(5), `fs.protected_symlinks`), and lets a stranger's FIFO be written to. So what is not the caller's own or
/// root's is neither followed nor written to, and what replaces a file is made anew.
struct OutputPlace {
    /// Where the links lead to.
    let path: String
    /// Whether something is there that is no regular file, such as a FIFO: it is written to directly.
    let isNode: Bool
    /// That of the caller's own file which is replaced, else that of a new one.
    let mode: mode_t

    /// - Throws: ``InputError/unwritable(name:reason:)``
    init(of name: String) throws(InputError) {
        let target = try Self.target(of: name)
        var status = stat()
        if lstat(target, &status) == 0 {
            (path, isNode) = (target, status.st_mode & S_IFMT != S_IFREG)
            mode = status.st_uid == geteuid() && !isNode ? status.st_mode & 0o777 : 0o644
            if status.st_mode & S_IFMT == S_IFIFO, !Self.isTrusted(status) {
                throw .unwritable(name: name, reason: "it is a FIFO of another user")
            }
        } else {
            // A pipe of this process has no name to which its link could lead: /dev/stdout.
            isNode = stat(name, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
            path = isNode ? name : target
            mode = 0o644
        }
    }

    /// The file that a path leads to over symbolic links, whether it is there or not.
    private static func target(of name: String) throws(InputError) -> String {
        var path = name
        var status = stat()
        // The kernel follows as many (path_resolution(7)).
        for _ in 0..<40 {
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { break }
            guard isTrusted(status) else {
                throw .unwritable(name: name, reason: "'\(path)' is a link of another user, who can point it anywhere")
            }
            var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(path, &bytes, bytes.count)
            guard count > 0 else { break }
            let link = String(decoding: bytes[..<count], as: UTF8.self)
            let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
            path = link.hasPrefix("/") ? link : folder + link
        }
        return path
    }

    private static func isTrusted(_ status: stat) -> Bool { status.st_uid == geteuid() || status.st_uid == 0 }

    /// Opens what is there and is no regular file.
    func openNode() -> Int32 { open(path, O_WRONLY | O_CLOEXEC) }

    /// Makes a file beside this place that was not there, so that no other program has it open. One of the caller's own
    /// goes.
    ///
    /// - Throws: ``InputError/unwritable(name:reason:)``
    func makeDraft(_ draft: String) throws(InputError) -> Int32 {
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else {
            guard errno == EEXIST else { throw unwritable }
            throw .unwritable(name: path, reason: "'\(draft)' already exists and belongs to another user")
        }
        return descriptor
    }

    /// Gives a file that was written the name of this place.
    func take(_ draft: String, _ descriptor: Int32) throws(InputError) {
        var (written, named) = (stat(), stat())
        guard fstat(descriptor, &written) == 0, lstat(draft, &named) == 0 else { throw unwritable }
        guard written.st_ino == named.st_ino, written.st_dev == named.st_dev else {
            throw .unwritable(name: path, reason: "another user has replaced '\(draft)' in the meantime")
        }
        guard rename(draft, path) == 0 else { throw unwritable }
    }

    /// By `errno`.
    var unwritable: InputError { .unwritable(name: path, reason: String(cString: strerror(errno))) }
}
