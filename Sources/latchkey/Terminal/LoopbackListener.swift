import Glibc
import HTTPClient

/// Waits on the loopback interface for a browser of this machine (RFC 8252 section 7.3).
final class LoopbackListener {
    /// How long a connection may take to say what it wants.
    private static let patience = Duration.seconds(5)

    /// How long a browser may take for its way from the gateway to here, in milliseconds.
    private static let lateness: Int32 = 1000

    /// Readable when a browser has connected.
    let descriptor: Int32
    let port: UInt16

    /// - Parameters:
    ///   - port: 0 takes a free one.
    ///   - isIPv6: whether the address is `::1`, not `127.0.0.1`.
    /// - Returns: `nil` if it cannot be used; then the address can still be entered by hand.
    init?(port: UInt16 = 0, isIPv6: Bool = false) {
        let family = isIPv6 ? AF_INET6 : AF_INET
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        // A port that the redirect URI names must serve the next login too: connections of the last one linger.
        var reuses: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuses, socklen_t(MemoryLayout<Int32>.size))
        // Both kinds of address have their port at the same place.
        var address = sockaddr_in6()
        var length = socklen_t(isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
        address.sin6_family = sa_family_t(family)
        address.sin6_port = port.bigEndian
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            if isIPv6 {
                pointer.pointee.sin6_addr = in6addr_loopback
            } else {
                pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    $0.pointee.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
                }
            }
            return pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 4) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        self.port = UInt16(bigEndian: address.sin6_port)
    }

    /// What waits at a redirect URI: the listener whose port was offered for it, or another at the port that it has.
    ///
    /// - Returns: `nil` where no program of this machine can wait.
    static func at(_ redirectURI: String, offered: LoopbackListener) -> LoopbackListener? {
        guard let port = LoopbackRedirect.port(of: redirectURI) else { return nil }
        let isIPv6 = LoopbackRedirect.isIPv6(redirectURI)
        return port == offered.port && !isIPv6 ? offered : LoopbackListener(port: port, isIPv6: isIPv6)
    }

    deinit { close(descriptor) }

    /// Answers the browser that has connected.
    ///
    /// - Returns: the address that it was redirected to; `nil` for any other request.
    func answer(redirectURI: String) -> String? {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { return nil }
        defer { close(connection) }
        let found = LoopbackRedirect.answer(in: Self.head(from: connection), redirectURI: redirectURI)
        let text = found == nil ? "Not here.\n" : "Continue at the terminal; this page can be closed.\n"
        let page =
            "HTTP/1.1 \(found == nil ? "404 Not Found" : "200 OK")\r\nContent-Type: text/plain; charset=utf-8\r\n"
            + "Content-Length: \(text.utf8.count)\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
            + "Connection: close\r\n\r\n\(text)"
        _ = Array(page.utf8).withUnsafeBytes {
            send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        return found
    }

    /// Answers a browser that is still on its way here when the gateway has already said that the login is done.
    func answerLatecomer(redirectURI: String) {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        if poll(&state, 1, Self.lateness) == 1 { _ = answer(redirectURI: redirectURI) }
    }

    /// What the browser sent up to the end of the head, bounded in size and in time: a connection that says nothing, or
    /// little at a time, must not keep the browser waiting that does.
    private static func head(from connection: Int32) -> [UInt8] {
        var head: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 2048)
        let end = Array("\r\n\r\n".utf8)
        let deadline = ContinuousClock.now + patience
        while head.count <= LoopbackRedirect.limit, head.firstRange(of: end) == nil {
            var state = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
            let left = max(deadline - .now, .zero)
            guard poll(&state, 1, Int32(left / .milliseconds(1))) == 1 else { break }
            let count = recv(connection, &piece, piece.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { break }
            head += piece[..<count]
        }
        return head
    }
}
