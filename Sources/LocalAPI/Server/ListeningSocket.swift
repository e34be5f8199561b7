import Glibc
import Groundwork

/// A Unix socket that listens at a path, or one that listens on a port of an address; closed when its owner ends.
struct ListeningSocket: ~Copyable {
    let descriptor: Int32
    /// Of the Unix socket; otherwise empty.
    let path: String
    /// 0 for a Unix socket.
    let port: UInt16
    /// Identify our file, so that a successor's is left alone.
    private let device: dev_t
    private let inode: ino_t

    /// Takes over the path of a daemon that died, but not of one that still listens.
    ///
    /// - Parameter group: the file's group (its mode is 0660); `nil` leaves the process's group.
    /// - Throws: ``LocalAPIError/alreadyRunning(path:)``, ``LocalAPIError/cannotListen(path:reason:)``
    init(at path: String, group: UInt32?) throws(LocalAPIError) {
        guard var address = Self.address(path) else {
            throw .cannotListen(path: path, reason: "the path is longer than 107 bytes")
        }
        // If two daemons start at once, the second checks the path only after the first listens.
        let lock = try Self.lock(path)
        defer { withExtendedLifetime(lock) {} }
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw Self.failure(path) }
        do throws(LocalAPIError) {
            if Self.call(bind, descriptor, &address) != 0 {
                guard errno == EADDRINUSE else { throw Self.failure(path) }
                try Self.removeStale(path, &address)
                guard Self.call(bind, descriptor, &address) == 0 else { throw Self.failure(path) }
            }
            // No peer can connect before listen(2), so the mode is set in time.
            guard chmod(path, 0o660) == 0 else { throw Self.failure(path) }
            if let group, chown(path, uid_t.max, group) != 0 { throw Self.failure(path) }
            // During a flood, new clients wait; without room in the backlog, connecting fails as if nothing listened.
            guard Glibc.listen(descriptor, 4096) == 0 else { throw Self.failure(path) }
        } catch {
            close(descriptor)
            throw error
        }
        var status = stat()
        lstat(path, &status)
        self.descriptor = descriptor
        self.path = path
        port = 0
        (device, inode) = (status.st_dev, status.st_ino)
    }

    /// Listens on 127.0.0.1, which no other machine reaches.
    ///
    /// - Parameter port: 0 for any that is free.
    /// - Throws: ``LocalAPIError/cannotListenOnPort(_:reason:)``
    init(onLoopbackPort port: UInt16) throws(LocalAPIError) {
        do throws(Errno) {
            try self.init(on: ListenAddress(loopbackPort: port))
        } catch {
            throw .cannotListenOnPort(port, reason: error.description)
        }
    }

    /// Listens on an address of this machine.
    ///
    /// - Throws: `Errno`
    init(on address: ListenAddress) throws(Errno) {
        let family = address.bytes.count == 4 ? AF_INET : AF_INET6
        let descriptor = socket(
            family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        // Connections of a former listener that linger do not keep the port.
        var on: Int32 = 1
        let port = address.withSocketAddress { pointer, size -> UInt16? in
            var length = size
            guard descriptor >= 0,
                setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size)) == 0,
                bind(descriptor, pointer, size) == 0, Glibc.listen(descriptor, 64) == 0,
                getsockname(descriptor, pointer, &length) == 0
            else { return nil }
            // At the same place in both kinds of addresses.
            return UnsafeRawPointer(pointer).loadUnaligned(fromByteOffset: 2, as: UInt16.self).bigEndian
        }
        guard let port else {
            let fault = Errno(errno)
            if descriptor >= 0 { close(descriptor) }
            throw fault
        }
        self.descriptor = descriptor
        path = ""
        self.port = port
        (device, inode) = (0, 0)
    }

    deinit { close(descriptor) }

    /// Removes the file, if it is still this socket's.
    func removeFile() {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode else { return }
        unlink(path)
    }

    private static func lock(_ path: String) throws(LocalAPIError) -> LockFile {
        do throws(LockFile.Failure) {
            return try LockFile(beside: path, patience: .seconds(2))
        } catch {
            switch error {
            case .held(let process):
                throw .cannotListen(path: path, reason: "process \(process) is about to listen there and does not end")
            case .impossible(let code): throw .cannotListen(path: path, reason: code.description)
            }
        }
    }

    private static func removeStale(_ path: String, _ address: inout sockaddr_un) throws(LocalAPIError) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else {
            throw .cannotListen(path: path, reason: "the file there is not a socket")
        }
        // Not blocking: a daemon with a full backlog is alive too, and answers EAGAIN.
        let probe = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard probe >= 0 else { throw failure(path) }
        defer { close(probe) }
        guard call(connect, probe, &address) != 0, errno == ECONNREFUSED else { throw .alreadyRunning(path: path) }
        guard unlink(path) == 0 else { throw failure(path) }
    }

    /// The path of the socket that a connection was made to; `nil` if it is not a Unix socket with one.
    static func path(of connection: Int32) -> String? {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(connection, $0, &length) == 0 }
        }
        guard isKnown, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        return withUnsafeBytes(of: &address.sun_path) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// - Returns: `nil` if the path is longer than 107 bytes.
    static func address(_ path: String) -> sockaddr_un? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return address
    }

    /// Calls `bind` or `connect`.
    static func call(
        _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Int32,
        _ address: inout sockaddr_un
    ) -> Int32 {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static func failure(_ path: String) -> LocalAPIError {
        .cannotListen(path: path, reason: String(cString: strerror(errno)))
    }
}
