import Glibc

/// Sends single datagrams to another process's Unix socket: systemd's notify socket or the journal.
package struct UnixDatagram: Sendable {
    /// A path, or `@name` for the abstract name space.
    package let path: String

    /// How long to wait for a slow receiver. A lost log line is better than a blocked agent.
    private static let patience = timeval(tv_sec: 0, tv_usec: 250_000)

    /// - Returns: whether the receiver accepted the datagram. The agent depends on neither receiver, so a refusal is
    ///   not an error.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        var name = Array(path.utf8)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard !name.isEmpty, name.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        let isAbstract = name[0] == UInt8(ascii: "@")
        if isAbstract { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = MemoryLayout<sa_family_t>.size + name.count + (isAbstract ? 0 : 1)

        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var patience = Self.patience
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let sent = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, socklen_t(length))
            }
        }
        return sent == bytes.count
    }
}
