import Glibc

/// Which user of this machine is at the other end of a TCP connection over loopback, as the kernel knows it
/// (sock_diag(7)). It says who takes up a place, and gives no rights: another program of that user may have been given
/// the connection.
enum LoopbackUser {
    private static let diagnosis: Int32 = 4  // NETLINK_SOCK_DIAG
    private static let byFamily: UInt16 = 20  // SOCK_DIAG_BY_FAMILY
    private static let isRequest: UInt16 = 1  // NLM_F_REQUEST
    private static let established: UInt8 = 1  // TCP_ESTABLISHED

    /// - Parameter connection: this end of it.
    /// - Returns: `nil` over IPv6, from another machine, after it was closed there, or where the kernel does not answer.
    static func find(_ connection: Int32) -> UInt32? {
        guard let here = address(connection, getsockname), let there = address(connection, getpeername),
            UInt32(bigEndian: there.sin_addr.s_addr) >> 24 == 127
        else { return nil }
        let netlink = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), diagnosis)
        guard netlink >= 0 else { return nil }
        defer { close(netlink) }
        // `nlmsghdr` of 16 bytes, `inet_diag_req_v2` of 56.
        var request = [UInt8](repeating: 0, count: 72)
        request.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: 72, as: UInt32.self)
            bytes.storeBytes(of: byFamily, toByteOffset: 4, as: UInt16.self)
            bytes.storeBytes(of: isRequest, toByteOffset: 6, as: UInt16.self)
            (bytes[16], bytes[17]) = (UInt8(AF_INET), UInt8(IPPROTO_TCP))
            bytes.storeBytes(of: .max, toByteOffset: 20, as: UInt32.self)
            bytes.storeBytes(of: there.sin_port, toByteOffset: 24, as: UInt16.self)
            bytes.storeBytes(of: here.sin_port, toByteOffset: 26, as: UInt16.self)
            bytes.storeBytes(of: there.sin_addr.s_addr, toByteOffset: 28, as: UInt32.self)
            bytes.storeBytes(of: here.sin_addr.s_addr, toByteOffset: 44, as: UInt32.self)
            // Of no certain socket (INET_DIAG_NOCOOKIE).
            bytes.storeBytes(of: .max, toByteOffset: 64, as: UInt64.self)
        }
        guard send(netlink, request, request.count, 0) == request.count else { return nil }
        var answer = [UInt8](repeating: 0, count: 1024)
        // The kernel has answered before `send` returns.
        let count = recv(netlink, &answer, answer.count, Int32(MSG_DONTWAIT))
        // `inet_diag_msg` of 72 bytes.
        guard count >= 88 else { return nil }
        return answer.withUnsafeBytes { bytes in
            let isOpen =
                bytes.load(fromByteOffset: 4, as: UInt16.self) == byFamily && bytes[17] == established
                && bytes.load(fromByteOffset: 84, as: UInt32.self) != 0
            return isOpen ? bytes.load(fromByteOffset: 80, as: UInt32.self) : nil
        }
    }

    private static func address(
        _ connection: Int32, _ ask: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
    ) -> sockaddr_in? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask(connection, $0, &length) }
        }
        return status == 0 && address.sin_family == sa_family_t(AF_INET) ? address : nil
    }
}
