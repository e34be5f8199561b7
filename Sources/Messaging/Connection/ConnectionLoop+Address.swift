import Glibc

extension ConnectionLoop {
    /// This side's address of a connected socket: 4 bytes, or 16; `nil` for another family.
    static func localAddress(of socket: Int32) -> [UInt8]? {
        var address = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
        }
        guard status == 0 else { return nil }
        return withUnsafeBytes(of: address) { bytes in
            switch Int32(address.sin6_family) {
            // struct sockaddr_in has its address after family and port.
            case AF_INET: Array(bytes[4..<8])
            case AF_INET6:
                withUnsafeBytes(of: address.sin6_addr) { $0.starts(with: mapped) ? Array($0[12...]) : Array($0) }
            default: nil
            }
        }
    }

    /// The beginning of an IPv4 address within IPv6 (RFC 4291 section 2.5.5.2).
    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
}
