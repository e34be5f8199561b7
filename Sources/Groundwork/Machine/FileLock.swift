import Glibc

/// The lock of an open file or folder that keeps other programs from locking it too (flock(2)); released when its
/// owner ends.
public struct FileLock: ~Copyable, Sendable {
    private let descriptor: Int32

    /// Takes over the descriptor, which is closed with the lock, or at once if it cannot be locked.
    ///
    /// - Throws: ``Errno``, of `EWOULDBLOCK` while another has the lock
    public init(of descriptor: Int32) throws(Errno) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let fault = Errno(errno)
            close(descriptor)
            throw fault
        }
        self.descriptor = descriptor
    }

    deinit {
        // Closing would not do: until a program that is being started has replaced ours in the new process, it has
        // copies of all descriptors, and with them the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
