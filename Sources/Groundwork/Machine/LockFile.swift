import Glibc

/// A lock that only programs of one user can take: a file beside what it protects, which no other user can open, and
/// which is removed with the lock.
///
/// A user who may read a file or a folder can lock that itself (flock(2)), and so hold up all others.
public struct LockFile: ~Copyable, Sendable {
    /// Why there is no lock.
    public enum Failure: Error, Equatable {
        /// Another process has it; 0 if that is not known yet.
        case held(by: Int32)
        case impossible(Errno)
    }

    private static let pause: UInt32 = 20_000

    private let path: String
    private let lock: FileLock

    /// - Parameters:
    ///   - path: of what is protected; the lock is `PATH.lock`.
    ///   - patience: how long another process may have it.
    public init(beside path: String, patience: Duration = .zero) throws(Failure) {
        let path = path + ".lock"
        // Swift 6.2 cannot throw from here once one of the values is set.
        let lock = try Self.take(path, until: .now + patience)
        self.path = path
        self.lock = lock
    }

    private static func take(_ path: String, until end: ContinuousClock.Instant) throws(Failure) -> FileLock {
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw .impossible(Errno(errno)) }
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_uid == geteuid() else {
                close(descriptor)
                throw .impossible(Errno(EPERM))
            }
            do throws(Errno) {
                let lock = try FileLock(of: descriptor)
                // Its former holder may have removed it.
                if isNamed(descriptor, path) {
                    let holder = Array("\(getpid())\n".utf8)
                    _ = pwrite(descriptor, holder, holder.count, 0)
                    return lock
                }
            } catch {
                guard error == Errno(EWOULDBLOCK) || error == Errno(EINTR) else { throw .impossible(error) }
                guard ContinuousClock.now < end else { throw .held(by: holder(path)) }
                usleep(pause)
            }
        }
    }

    private static func isNamed(_ descriptor: Int32, _ path: String) -> Bool {
        var (opened, named) = (stat(), stat())
        return fstat(descriptor, &opened) == 0 && lstat(path, &named) == 0 && opened.st_ino == named.st_ino
            && opened.st_dev == named.st_dev
    }

    private static func holder(_ path: String) -> Int32 {
        let bytes = (try? BoundedFile.read(path, limit: 20)) ?? []
        return Int32(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)) ?? 0
    }

    // While it is locked: then the name is this file's.
    deinit { unlink(path) }
}
