import Glibc

/// A socket to the kernel's network configuration (netlink(7)); closed with its last reference.
final class NetlinkSocket: Sendable {
    /// Links, IPv4 and IPv6 addresses and routes (`RTMGRP_…`, rtnetlink(7)).
    static let allChanges: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400
    private static let routes: Int32 = 0  // NETLINK_ROUTE

    let descriptor: Int32

    /// - Parameter groups: what the kernel reports of its own accord.
    /// - Throws: ``NetworkError/notWatched(reason:)``, such as where a service may have no socket of this family.
    init(groups: UInt32 = 0) throws(NetworkError) {
        let kind = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        descriptor = socket(AF_NETLINK, kind, Self.routes)
        guard descriptor >= 0 else { throw .system("open a netlink socket") }
        // struct sockaddr_nl: family, padding, port, groups.
        var address: (UInt16, UInt16, UInt32, UInt32) = (UInt16(AF_NETLINK), 0, 0, groups)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, 12) }
        }
        // The kernel answers at once; a socket that waits forever would keep the thread.
        var patience = timeval(tv_sec: 2, tv_usec: 0)
        let isBounded = setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        guard status == 0, isBounded == 0 else {
            let error = NetworkError.system("use a netlink socket")
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// Discards the reports that wait: they only say that something has changed.
    func drain() {
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) >= 0 || errno == ENOBUFS || errno == EINTR {}
    }

    /// Asks for all links, addresses and routes.
    ///
    /// - Throws: ``NetworkError/notWatched(reason:)``
    func snapshot() throws(NetworkError) -> NetworkSnapshot {
        // If it changes all the time, the last answer has to do: another report follows.
        for isLast in [false, false, true] {
            var answer = NetlinkAnswer()
            for (sequence, type) in [UInt16(18), 22, 26].enumerated() {  // RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE
                try ask(type, sequence: UInt32(sequence + 1), into: &answer)
            }
            if !answer.wasInterrupted || isLast { return answer.snapshot }
        }
        return NetworkSnapshot()
    }

    private func ask(_ type: UInt16, sequence: UInt32, into answer: inout NetlinkAnswer) throws(NetworkError) {
        // struct nlmsghdr, NLM_F_REQUEST and NLM_F_DUMP, and struct rtgenmsg of AF_UNSPEC.
        var question: (UInt32, UInt16, UInt16, UInt32, UInt32, UInt32) = (20, type, 0x301, sequence, 0, 0)
        guard send(descriptor, &question, 20, 0) == 20 else { throw .system("ask the kernel about the network") }
        answer.beginQuestion()
        var total = 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferBytes, alignment: 16)
        defer { buffer.deallocate() }
        while !answer.isComplete {
            var sender: (UInt16, UInt16, UInt32, UInt32) = (0, 0, 0, 0)
            var size: socklen_t = 12
            let count = withUnsafeMutablePointer(to: &sender) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    recvfrom(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_TRUNC), $0, &size)
                }
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system("ask the kernel about the network") }
            // Other programs may send here too.
            guard sender.2 == 0 else { continue }
            total += count
            guard count <= buffer.count, total <= Self.answerLimit else {
                throw .notWatched(reason: "the kernel's answer is too long")
            }
            guard answer.read(UnsafeRawBufferPointer(rebasing: buffer[..<count]), sequence: sequence) else {
                throw .notWatched(reason: "the kernel's answer cannot be read")
            }
        }
        guard answer.errorNumber == 0 else {
            throw .notWatched(reason: "the kernel answers: \(String(cString: strerror(answer.errorNumber)))")
        }
    }

    /// The kernel sends no more at once (linux/netlink.h).
    private static let bufferBytes = 32 << 10
    /// A board does not have so many routes.
    private static let answerLimit = 1 << 20
}

extension NetworkError {
    fileprivate static func system(_ operation: String) -> NetworkError {
        .notWatched(reason: "cannot \(operation): \(String(cString: strerror(errno)))")
    }
}
