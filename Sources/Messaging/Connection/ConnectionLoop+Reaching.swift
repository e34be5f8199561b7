import Cryptography
import Glibc
import Groundwork

/// The way to the broker, and why it ended.
extension ConnectionLoop {
    /// Makes the TCP connection. The library only tries the first address of the host. If that fails, the next
    /// attempts use its addresses of one family each.
    func reach(_ client: MosquittoClient, until deadline: ContinuousClock.Instant) throws(Stop) {
        guard !order.isTunneled else { return try reachByTunnel(client, until: deadline) }
        var first: MessagingError?
        for (index, family) in [nil, "0.0.0.0", "::"].enumerated() {
            if let fault = client.connect(to: order, family: family) {
                guard !fault.hasReachedPeer else { throw .failed(failure(client, fault)) }
                first = first ?? .cannotConnect(order.address, reason: fault.reason)
                continue
            }
            let left = (deadline - .now) / (3 - index)
            guard let failure = try waitUntilWritable(client, until: .now + left) else { return }
            first = first ?? failure
        }
        throw .failed(first ?? .connectTimeout(order.address, order.timeout))
    }

    /// - Returns: why the connection failed; `nil` when it is there.
    private func waitUntilWritable(
        _ client: MosquittoClient, until deadline: ContinuousClock.Instant
    ) throws(Stop) -> MessagingError? {
        while true {
            let socket = client.socket
            let ready = try wait(for: socket, events: POLLOUT, until: deadline)
            guard ContinuousClock.now < deadline else { return .connectTimeout(order.address, order.timeout) }
            guard ready != 0 else { continue }
            var code: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            let status = getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &size)
            if ClientFault.system(code).isReset { throw .failed(failure(client, .system(code))) }
            // If the answer was there by the library's first write, that write has cleared the error. Only this
            // machine refuses that quickly.
            guard status == 0, code == 0, ready & (POLLERR | POLLHUP) == 0 else {
                return .cannotConnect(order.address, reason: String(cString: strerror(code == 0 ? ECONNREFUSED : code)))
            }
            return nil
        }
    }

    func failure(_ client: MosquittoClient, _ fault: ClientFault) -> MessagingError {
        if let end = relay?.ending, isOpen || end != .closed {
            lossCause = end.isHangUp ? .hangUp : .silence
            return !isOpen && end.isOfTLS
                ? .tlsFailed(order.address, reason: end.reason) : .connectionLost(order.address, reason: end.reason)
        }
        if !isOpen {
            if let refusal = order.credentials.tls?.lastRefusal { return .tlsRefused(order.address, refusal) }
            if let failure = order.credentials.tls?.lastSigningFailure {
                return .tlsFailed(order.address, reason: failure.message, remedy: failure.remedy)
            }
            let tlsReason = client.takeReport().tlsReason
            // OpenSSL reports "unexpected eof" for an end without a close notice.
            if let tlsReason, !tlsReason.hasPrefix("unexpected eof") {
                return .tlsFailed(order.address, reason: tlsReason)
            }
            if fault.isConnectionLost || tlsReason != nil || fault.isReset {
                return .connectionLost(order.address, reason: "the broker closed it before it answered")
            }
        }
        lossCause = fault.isHangUp ? .hangUp : .silence
        return .connectionLost(order.address, reason: fault.reason)
    }
}
