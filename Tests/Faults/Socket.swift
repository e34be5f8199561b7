import Glibc
import TestSupport

/// What the test's own ends of connections are made of; never blocking, and no child's.
enum Socket {
    static let flags = Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

    /// GNU's extensions, which Swift's Glibc does not name.
    private static let accept4 = unsafeBitCast(
        dlsym(nil, "accept4"), to: (@convention(c) (Int32, OpaquePointer?, OpaquePointer?, Int32) -> Int32).self)
    private static let setns = unsafeBitCast(dlsym(nil, "setns"), to: (@convention(c) (Int32, Int32) -> Int32).self)

    /// - Returns: less than 0 when nobody waits.
    static func accept(_ listener: Int32) -> Int32 { accept4(listener, nil, nil, flags) }

    /// Moves this thread into a network namespace (CLONE_NEWNET).
    static func enter(network: Int32) -> Bool { setns(network, 0x4000_0000) == 0 }

    /// A listening TCP socket at an address of either family.
    static func listen(at address: String, port: Int) throws -> Int32 {
        let descriptor = try bound(to: address, port: port, type: Int32(SOCK_STREAM.rawValue))
        guard Glibc.listen(descriptor, 128) == 0 else { throw Unexpected.system("listen at \(address) port \(port)") }
        return descriptor
    }

    /// A socket of the type at an address of either family.
    static func bound(to address: String, port: Int, type: Int32) throws -> Int32 {
        let isIPv6 = address.contains(":")
        let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, type | flags, 0)
        guard descriptor >= 0 else { throw Unexpected.system("a socket") }
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        var status: Int32
        if isIPv6 {
            var place = sockaddr_in6()
            place.sin6_family = sa_family_t(AF_INET6)
            place.sin6_port = in_port_t(port).bigEndian
            inet_pton(AF_INET6, address, &place.sin6_addr)
            status = withUnsafePointer(to: &place) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        } else {
            var place = ipv4(address, port: port)
            status = withUnsafePointer(to: &place) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        guard status == 0 else {
            defer { close(descriptor) }
            throw Unexpected.system("bind to \(address) port \(port)")
        }
        return descriptor
    }

    private static func ipv4(_ address: String, port: Int) -> sockaddr_in {
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, address, &place.sin_addr)
        return place
    }

    /// A connection to a server on loopback; `nil` when there is none.
    static func connect(to port: Int) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var place = ipv4("127.0.0.1", port: port)
        // Loopback answers at once, either way.
        let status = withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else {
            close(descriptor)
            return nil
        }
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }

    /// Moves what there is from one socket to the other; what does not fit waits in `rest`.
    ///
    /// - Returns: whether both ends are there.
    static func pass(_ source: Int32, _ sink: Int32, _ rest: inout [UInt8]) -> Bool {
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            while !rest.isEmpty {
                let count = send(sink, rest, rest.count, Int32(MSG_NOSIGNAL))
                if count < 0 { return errno == EAGAIN }
                rest.removeFirst(count)
            }
            let count = read(source, &piece, piece.count)
            guard count > 0 else { return count < 0 && errno == EAGAIN }
            rest = Array(piece[..<count])
        }
    }

    /// Has the kernel drop whatever comes for the socket, so that the sender gets no sign of it (SO_ATTACH_FILTER with
    /// the one instruction "return 0", which takes none of a packet).
    static func drop(_ descriptor: Int32) {
        struct Program {
            var length: UInt16 = 1
            var code: UnsafeMutableRawPointer
        }
        let returnNothing: UInt64 = 6
        withUnsafePointer(to: returnNothing) { code in
            var program = Program(code: UnsafeMutableRawPointer(mutating: code))
            setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, socklen_t(MemoryLayout<Program>.size))
        }
    }

    /// Closes a connection without a packet (TCP_REPAIR): the other side does not learn of it until it sends something.
    static func forget(_ descriptor: Int32) {
        let repair: Int32 = 19
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), repair, &one, socklen_t(MemoryLayout<Int32>.size))
        close(descriptor)
    }
}
