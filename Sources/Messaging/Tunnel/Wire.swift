import Cryptography
import Glibc

/// A TCP connection that does not block, with TLS on it once that was begun; closed with this object. Used on one
/// thread only.
final class Wire {
    enum Outcome: Equatable {
        case bytes(Int)
        /// Nothing now; again once the socket is ready for this (`POLLIN`, `POLLOUT`).
        case waits(Int32)
        case ended(End)
    }

    /// How the other side ended it.
    struct End: Equatable {
        var reason: String
        /// It closed the connection, or sent what forces it closed; otherwise it vanished.
        var isHangUp = true
        var isOfTLS = false

        static let closed = End(reason: "the broker closed it")
    }

    let socket: Int32
    private var tls: TLSConnection?

    /// - Parameter socket: owned by this object from now on.
    init(_ socket: Int32) { self.socket = socket }
    deinit { close(socket) }

    /// Has all that follows go through TLS, which begins with ``shakeHands()``.
    ///
    /// - Throws: ``CryptographyError``
    func beginTLS(to host: String, with context: TLSContext) throws(CryptographyError) {
        tls = try TLSConnection(on: socket, to: host, with: context)
    }

    func shakeHands() -> Outcome { tls.map { outcome(of: $0.shakeHands()) } ?? .bytes(0) }

    func read(into bytes: UnsafeMutableRawBufferPointer) -> Outcome {
        if let tls { return outcome(of: tls.read(into: bytes)) }
        let count = recv(socket, bytes.baseAddress, bytes.count, 0)
        return count == 0 ? .ended(.closed) : outcome(of: count, waiting: POLLIN)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        if let tls { return outcome(of: tls.write(bytes)) }
        return outcome(of: Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)), waiting: POLLOUT)
    }

    /// Says that nothing more is written.
    func finish() {
        tls?.close()
        shutdown(socket, Int32(SHUT_WR))
    }

    private func outcome(of count: Int, waiting events: Int32) -> Outcome {
        guard count < 0 else { return .bytes(count) }
        let code = errno
        return code == EAGAIN || code == EINTR ? .waits(events) : .ended(Self.end(code))
    }

    private func outcome(of outcome: TLSConnection.Outcome) -> Outcome {
        switch outcome {
        case .done(let count): .bytes(count)
        case .waitsToRead: .waits(POLLIN)
        case .waitsToWrite: .waits(POLLOUT)
        case .ended: .ended(.closed)
        case .failed(_, let code) where code != 0: .ended(Self.end(code))
        case .failed(let reason, _): .ended(End(reason: reason, isOfTLS: true))
        }
    }

    private static func end(_ code: Int32) -> End {
        let fault = ClientFault.system(code)
        return End(reason: fault.reason, isHangUp: fault.isHangUp)
    }
}
