import AgentCore
import Glibc
import Groundwork

/// Replaces a small file by another content, all at once, and not if somebody else has changed it.
///
/// Others who replace it in this way wait for as long as this value lives, up to a limit.
package struct FileReplacement: ~Copyable {
    private let path: String
    private let lock: LockFile
    /// The file as it was, open; -1 if there was none.
    private let opened: Int32

    /// - Parameters:
    ///   - path: without links.
    ///   - patience: how long others may be replacing it.
    /// - Throws: ``SettingsEditError``
    package init(of path: String, patience: Duration = .seconds(10)) throws(SettingsEditError) {
        // Swift 6.2 cannot throw from here once one of the values is set.
        let lock = try Self.lock(path, patience)
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard opened >= 0 || errno == ENOENT else { throw Self.fault(path) }
        self.path = path
        self.lock = lock
        self.opened = opened
    }

    private static func lock(_ path: String, _ patience: Duration) throws(SettingsEditError) -> LockFile {
        do throws(LockFile.Failure) {
            return try LockFile(beside: path, patience: patience)
        } catch {
            switch error {
            case .held(let process): throw .inUse(path: path, process: process)
            case .impossible(let code): throw fault(path, code)
            }
        }
    }

    deinit { if opened >= 0 { close(opened) } }

    /// - Parameters:
    ///   - before: what the file held when the new content was made; nothing if there was none.
    /// - Returns: `false` if the file no longer holds that; it is unchanged then.
    /// - Throws: ``SettingsEditError``
    package func replace(_ before: [UInt8], with content: [UInt8]) throws(SettingsEditError) -> Bool {
        var template = Array("\(path).new-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw Self.fault(path) }
        let draft = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer {
            close(descriptor)
            // Without effect once it has the other name.
            unlink(draft)
        }
        try write(content, to: descriptor)
        guard opened >= 0 else {
            // A file that somebody else made meanwhile has the name, and keeps it.
            guard link(draft, path) == 0 else {
                guard errno == EEXIST else { throw Self.fault(path) }
                return false
            }
            return try synced()
        }
        guard Self.isSame(opened, path), (try? BoundedFile.read(path, limit: before.count)) == before else {
            return false
        }
        guard rename(draft, path) == 0 else { throw Self.fault(path) }
        return try synced()
    }

    /// Content, owner and mode, on the disk.
    private func write(_ content: [UInt8], to descriptor: Int32) throws(SettingsEditError) {
        var status = stat()
        status.st_mode = 0o644
        if opened >= 0 {
            guard fstat(opened, &status) == 0 else { throw Self.fault(path) }
            // First, because it takes away bits of the mode.
            guard fchown(descriptor, status.st_uid, status.st_gid) == 0 else { throw Self.fault(path) }
        }
        guard fchmod(descriptor, status.st_mode & 0o7777) == 0 else { throw Self.fault(path) }
        var rest = content[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.fault(path) }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0 else { throw Self.fault(path) }
    }

    /// Makes the name durable.
    private func synced() throws(SettingsEditError) -> Bool {
        let descriptor = open(path.parentDirectory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.fault(path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw Self.fault(path) }
        return true
    }

    private static func isSame(_ descriptor: Int32, _ path: String) -> Bool {
        var (opened, named) = (stat(), stat())
        guard fstat(descriptor, &opened) == 0, stat(path, &named) == 0 else { return false }
        return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
    }

    /// By `errno`.
    private static func fault(_ path: String) -> SettingsEditError { fault(path, Errno(errno)) }

    private static func fault(_ path: String, _ code: Errno) -> SettingsEditError {
        code == Errno(EACCES) || code == Errno(EPERM)
            ? .forbidden(path: path) : .unwritable(path: path, reason: code.description)
    }
}
