import Glibc

/// Where gpsd listens: at a port of the loopback interface, or at a Unix socket.
///
/// Not on another machine: it proves nothing about itself, and says in the clear where the board is.
public enum GPSDAddress: Sendable, Equatable {
    /// 127.0.0.1 or ::1.
    case port(UInt16, isVersion6: Bool)
    case path(String)

    /// Reads `127.0.0.1:2947`, `[::1]:2947`, `localhost:2947` or an absolute path; `nil` for anything else.
    public init?(_ text: String) {
        if text.hasPrefix("/") {
            // The longest that a socket's address holds, with the byte that ends it.
            guard (2...107).contains(text.utf8.count), !text.utf8.contains(0) else { return nil }
            self = .path(text)
            return
        }
        for (host, isVersion6) in [("127.0.0.1:", false), ("localhost:", false), ("[::1]:", true)]
        where text.hasPrefix(host) {
            guard let port = UInt16(text.dropFirst(host.count)), port > 0 else { return nil }
            self = .port(port, isVersion6: isVersion6)
            return
        }
        return nil
    }

    /// A socket that connects without waiting.
    ///
    /// - Returns: its descriptor, and the `errno` of connecting: 0, or `EINPROGRESS`.
    func connect() -> (descriptor: Int32, error: Int32) {
        switch self {
        case .port(let port, isVersion6: false):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
            return Self.connect(AF_INET, address)
        case .port(let port, isVersion6: true):
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = in6addr_loopback
            return Self.connect(AF_INET6, address)
        case .path(let path):
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            return Self.connect(AF_UNIX, address)
        }
    }

    private static func connect<Address>(_ family: Int32, _ address: Address) -> (Int32, Int32) {
        let flags = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family, flags, 0)
        guard descriptor >= 0 else { return (-1, errno) }
        let failed = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size)) != 0
            }
        }
        return (descriptor, failed ? errno : 0)
    }
}

extension GPSDAddress: CustomStringConvertible {
    public var description: String {
        switch self {
        case .port(let port, let isVersion6): isVersion6 ? "[::1]:\(port)" : "127.0.0.1:\(port)"
        case .path(let path): path
        }
    }
}
