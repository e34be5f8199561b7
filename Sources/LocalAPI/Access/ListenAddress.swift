import Glibc

/// A numeric address of this machine with a port to listen on: `127.0.0.1:9464` or `[::1]:9464`.
public struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// The address as written in a URL; an IPv6 address in brackets.
    public let host: String
    public let port: UInt16
    /// 4 or 16 bytes.
    let bytes: [UInt8]

    /// Whether no other machine reaches it.
    public var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// Whether it stands for all addresses of this machine.
    public var isWildcard: Bool { bytes.allSatisfy { $0 == 0 } }

    public var description: String { "\(host):\(port)" }

    /// On 127.0.0.1.
    init(loopbackPort port: UInt16) {
        (host, self.port, bytes) = ("127.0.0.1", port, [127, 0, 0, 1])
    }

    /// - Returns: `nil` if the text is not an address with a port from 1 to 65535.
    public init?(_ text: String) {
        // inet_pton(3) reads to the first zero byte.
        guard !text.utf8.contains(0), let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...]), port > 0
        else {
            return nil
        }
        let host = text[..<colon]
        let isLong = host.hasPrefix("[") && host.hasSuffix("]")
        let size = isLong ? 16 : 4
        var bytes = [UInt8](repeating: 0, count: size)
        let number = isLong ? String(host.dropFirst().dropLast()) : String(host)
        guard inet_pton(isLong ? AF_INET6 : AF_INET, number, &bytes) == 1 else { return nil }
        (self.host, self.port, self.bytes) = (host.lowercased(), port, bytes)
    }

    /// Calls the body with the address as the kernel takes it, and its size.
    func withSocketAddress<Result>(_ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result) -> Result {
        func call<Address>(_ address: inout Address) -> Result {
            withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<Address>.size))
                }
            }
        }
        if bytes.count == 4 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes) }
            return call(&address)
        }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: bytes) }
        return call(&address)
    }
}
