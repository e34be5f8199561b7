import AgentCore
import Glibc
import Groundwork

/// Replaces a small file by another content, all at once.
///
/// Others who replace it in this way wait for as long as this value lives, up to a limit.
package struct FileReplacement: ~Copyable {
    private let path: String
    private let lock: LockFile

    /// Makes the file's directory if there is none.
    ///
    /// - Parameter patience: how long others may be replacing it.
    /// - Throws: ``SettingsEditError``
    package init(of path: String, patience: Duration = .seconds(10)) throws(SettingsEditError) {
        // Swift 6.2 cannot throw from here once one of the values is set.
        let lock = try Self.lock(path, patience)
        self.path = path
        self.lock = lock
    }

    private static func lock(_ path: String, _ patience: Duration) throws(SettingsEditError) -> LockFile {
        if mkdir(path.parentDirectory, 0o755) == 0 {
            try sync(path.parentDirectory.parentDirectory, for: path)
        } else if errno != EEXIST {
            throw fault(path)
        }
        do throws(LockFile.Failure) {
            return try LockFile(beside: path, patience: patience)
        } catch {
            switch error {
            case .held(let process): throw .inUse(path: path, process: process)
            case .impossible(let code): throw fault(path, code)
            }
        }
    }

    /// The file is the former one or the new one at any moment, also if the power fails.
    ///
    /// - Parameter model: has the owner and the mode for a file that does not exist yet.
    /// - Throws: ``SettingsEditError``
    package func replace(with content: [UInt8], like model: String) throws(SettingsEditError) {
        let draft = path + ".new"
        // A draft that a crash has left was never in use.
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.fault(path) }
        defer {
            close(descriptor)
            // Without effect once it has the other name.
            unlink(draft)
        }
        var status = stat()
        let isLike = stat(path, &status) == 0 || stat(model, &status) == 0
        // The owner first, because that takes away bits of the mode.
        guard !isLike || fchown(descriptor, status.st_uid, status.st_gid) == 0,
            fchmod(descriptor, isLike ? status.st_mode & 0o777 : 0o644) == 0,
            content.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) == content.count,
            fsync(descriptor) == 0
        else { throw Self.fault(path) }
        killPoint("settings-drafted")
        guard rename(draft, path) == 0 else { throw Self.fault(path) }
        killPoint("settings-renamed")
        try Self.sync(path.parentDirectory, for: path)
    }

    /// Makes the names in a directory durable.
    private static func sync(_ directory: String, for path: String) throws(SettingsEditError) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw fault(path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw fault(path) }
    }

    private static func fault(_ path: String, _ code: Errno = Errno(errno)) -> SettingsEditError {
        code == Errno(EACCES) || code == Errno(EPERM)
            ? .forbidden(path: path) : .unwritable(path: path, reason: code.description)
    }
}
