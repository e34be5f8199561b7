import Cryptography
import Glibc
import Groundwork

/// The ways to a broker that the library cannot go: through a proxy (CONNECT, RFC 9110 section 9.3.6), over WebSocket
/// (RFC 6455), or both. The connection is made here, and the library gets it in place of its own.
extension ConnectionLoop {
    /// Addresses of a host beyond these are not tried.
    private static let mostAddresses = 8

    /// - Throws: also when the library does not take the connection.
    func reachByTunnel(_ client: MosquittoClient, until deadline: ContinuousClock.Instant) throws(Stop) {
        let address = order.address
        let wire = try way(until: deadline)
        guard address.webSocketPath != nil else { return try hand(wire.socket, to: client) }
        if let tls = order.credentials.tls { try secure(wire, with: tls, until: deadline) }
        try upgrade(wire, until: deadline)
        guard let relay = WebSocketRelay(wire) else { throw unreachable("out of file descriptors") }
        try hand(relay.libraryEnd, to: client)
        relay.closeLibraryEnd()
        self.relay = relay
    }

    /// Tries whether there is a connection to be had.
    func probe() -> ConnectionEnding {
        do throws(Stop) {
            _ = try way(until: .now + order.timeout)
            return .closed
        } catch {
            guard case .failed(let failure) = error else { return .closed }
            return .failed(failure, loss: nil)
        }
    }

    /// A connection to the broker's port.
    private func way(until deadline: ContinuousClock.Instant) throws(Stop) -> Wire {
        let (proxy, address) = (order.proxy, order.address)
        let wire = try reach(proxy?.host ?? address.host, proxy?.port ?? address.port, until: deadline)
        if let proxy { try ask(proxy, on: wire, until: deadline) }
        return wire
    }

    private func hand(_ socket: Int32, to client: MosquittoClient) throws(Stop) {
        if let fault = client.connect(to: order, by: socket) { throw .failed(failure(client, fault)) }
    }

    /// That the first host of the way does not answer: the proxy, or the broker.
    private func unreachable(_ reason: String) -> Stop {
        .failed(
            order.proxy.map { .proxyFailed(proxy: $0.description, order.address, reason: reason) }
                ?? .cannotConnect(order.address, reason: reason))
    }

    // MARK: TCP

    private func reach(
        _ host: String, _ port: Int, until deadline: ContinuousClock.Instant
    ) throws(Stop) -> Wire {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0 else { throw unreachable("the host is unknown") }
        defer { freeaddrinfo(list) }
        let found = Array(sequence(first: list) { $0?.pointee.ai_next }.compactMap(\.self).prefix(Self.mostAddresses))
        var first: Stop?
        for (index, entry) in found.enumerated() {
            let left = (deadline - .now) / (found.count - index)
            do throws(Stop) {
                return try connect(to: entry.pointee, until: .now + left)
            } catch {
                if case .closeRequested = error { throw error }
                first = first ?? error
            }
        }
        throw first ?? unreachable("the host is unknown")
    }

    private func connect(to entry: addrinfo, until deadline: ContinuousClock.Instant) throws(Stop) -> Wire {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let socket = Glibc.socket(entry.ai_family, kind, 0)
        guard socket >= 0 else { throw unreachable(String(cString: strerror(errno))) }
        let wire = Wire(socket)
        var one: Int32 = 1
        // As for the library's own; if it fails, it is only slower.
        _ = setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        if Glibc.connect(socket, entry.ai_addr, entry.ai_addrlen) == 0 { return wire }
        guard errno == EINPROGRESS else { throw unreachable(String(cString: strerror(errno))) }
        try wait(for: wire, POLLOUT, until: deadline)
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &size) == 0, code == 0 else {
            throw unreachable(String(cString: strerror(code)))
        }
        return wire
    }

    /// - Throws: also at the deadline.
    private func wait(for wire: Wire, _ events: Int32, until deadline: ContinuousClock.Instant) throws(Stop) {
        while try wait(for: wire.socket, events: events, until: deadline) == 0 {
            guard ContinuousClock.now >= deadline else { continue }
            throw .failed(.connectTimeout(order.address, order.timeout))
        }
    }

    // MARK: What is said on it

    private func ask(_ proxy: BrokerProxy, on wire: Wire, until deadline: ContinuousClock.Instant) throws(Stop) {
        let host = order.address.host.contains(":") ? "[\(order.address.certifiedHost)]" : order.address.certifiedHost
        var request = Array(
            "CONNECT \(host):\(order.address.port) HTTP/1.1\r\nHost: \(host):\(order.address.port)\r\n".utf8)
        if var authorization = proxy.authorization {
            request += Array("Proxy-Authorization: ".utf8) + authorization + Array("\r\n".utf8)
            wipe(&authorization)
        }
        request += Array("\r\n".utf8)
        defer { wipe(&request) }
        let answer = try converse(on: wire, request, until: deadline) { end in
            unreachable(end?.reason ?? "what it answered is not HTTP")
        }
        guard (200..<300).contains(answer.status) else {
            throw .failed(.proxyRefused(proxy: proxy.description, order.address, status: answer.status))
        }
    }

    private func secure(_ wire: Wire, with tls: TLSContext, until deadline: ContinuousClock.Instant) throws(Stop) {
        do throws(CryptographyError) {
            try wire.beginTLS(to: order.address.certifiedHost, with: tls)
        } catch {
            throw .failed(.tlsFailed(order.address, reason: error.explanation.message))
        }
        while true {
            switch wire.shakeHands() {
            case .bytes: return
            case .waits(let events): try wait(for: wire, events, until: deadline)
            case .ended(let end): throw broken(end)
            }
        }
    }

    private func upgrade(_ wire: Wire, until deadline: ContinuousClock.Instant) throws(Stop) {
        guard let handshake = try? WebSocketHandshake() else { throw unreachable("the system has no randomness") }
        let request = handshake.request(to: order.address, isSecure: order.credentials.tls != nil)
        let answer = try converse(on: wire, request, until: deadline) { end in
            end.map(broken) ?? .failed(.webSocketFailed(order.address, reason: "what it answered is not HTTP"))
        }
        do throws(WebSocketHandshake.Fault) {
            try handshake.check(answer)
        } catch {
            if case .status(let status) = error { throw .failed(.webSocketRefused(order.address, status: status)) }
            throw .failed(.webSocketFailed(order.address, reason: error.reason))
        }
    }

    /// What the end of a connection means on which nothing but TLS and HTTP was spoken.
    private func broken(_ end: Wire.End) -> Stop {
        if let refusal = order.credentials.tls?.lastRefusal { return .failed(.tlsRefused(order.address, refusal)) }
        if end.isOfTLS {
            let failure = order.credentials.tls?.lastSigningFailure
            return .failed(
                .tlsFailed(order.address, reason: failure?.message ?? end.reason, remedy: failure?.remedy))
        }
        return .failed(.connectionLost(order.address, reason: "the broker closed it before it answered"))
    }

    /// Sends a request, and reads the head of its answer and nothing behind it: a byte at a time, because what follows
    /// is for another reader.
    ///
    /// - Parameter failure: what to throw at the end of the connection; for an answer that is none, of `nil`.
    private func converse(
        on wire: Wire, _ request: [UInt8], until deadline: ContinuousClock.Instant, failure: (Wire.End?) -> Stop
    ) throws(Stop) -> AnswerHead {
        var sent = 0
        while sent < request.count {
            switch request[sent...].withUnsafeBytes(wire.write) {
            case .bytes(let count): sent += count
            case .waits(let events): try wait(for: wire, events, until: deadline)
            case .ended(let end): throw failure(end)
            }
        }
        var (head, byte) = ([UInt8](), [UInt8](repeating: 0, count: 1))
        while !AnswerHead.isWhole(head) {
            guard head.count < AnswerHead.limit else { throw failure(nil) }
            switch byte.withUnsafeMutableBytes(wire.read) {
            case .bytes: head.append(byte[0])
            case .waits(let events): try wait(for: wire, events, until: deadline)
            case .ended(let end): throw failure(end)
            }
        }
        guard let answer = AnswerHead(head) else { throw failure(nil) }
        return answer
    }
}
