import CMicroHTTPD
import Glibc
import Groundwork
import Synchronization

/// A running libmicrohttpd daemon on a listening socket. Owns both, and stops with its last reference.
final class Daemon: @unchecked Sendable {
    // `@unchecked Sendable` is correct because nothing but `isStopping` changes after the initializers, and
    // libmicrohttpd takes connections and may be stopped on every thread but its own. (`listener` is set when its
    // thread may already call back, which only uses what was set before.)
    private let handle: OpaquePointer
    private let socket: ListeningSocket
    private let service: ServerContext
    private let isStopping = Mutex(false)
    private var listener: RelayListener?

    /// Serves the connections of a relay's socket too, on the same thread.
    ///
    /// - Throws: ``LocalAPIError/cannotListen(path:reason:)``
    convenience init(
        on socket: consuming ListeningSocket, serving service: ServerContext, relaying path: String, group: UInt32?
    ) throws(LocalAPIError) {
        try self.init(on: socket, serving: service)
        let second = try ListeningSocket(at: path, group: group)
        listener = RelayListener(on: second) { [weak self] connection in
            guard let self else { return false }
            return self.add(connection)
        }
    }

    /// - Throws: ``LocalAPIError/cannotListen(path:reason:)``
    init(on socket: consuming ListeningSocket, serving service: ServerContext) throws(LocalAPIError) {
        let limits = service.limits
        let started = latchkey_http_start(
            service.library.table, socket.descriptor,
            latchkey_http_limits(
                connections: limits.connections, stall_seconds: UInt32(clamping: limits.stall.components.seconds),
                // Besides the head, there must be room for libmicrohttpd's records of it and the piece being written.
                connection_memory: limits.headBytes + (32 << 10)),
            Self.callbacks,
            // The context outlives the daemon: this object retains it, and stops the daemon first.
            Unmanaged.passUnretained(service).toOpaque())
        guard let started else {
            socket.removeFile()
            throw .cannotListen(
                path: socket.path, reason: "libmicrohttpd did not start: \(String(cString: strerror(errno)))")
        }
        handle = started
        self.socket = socket
        self.service = service
    }

    /// Accepts no more connections, sends every client its last answer, and waits until those are written.
    func shutDown(within limit: Duration) async {
        guard stopAccepting() else { return }
        await service.finish(within: limit)
    }

    /// Hands a connection over, which libmicrohttpd closes.
    ///
    /// - Returns: `false` if it was not taken.
    private func add(_ connection: Int32) -> Bool {
        isStopping.withLock { isStopping in
            guard !isStopping else { return false }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = service.library.calls.add_connection(
                        handle, connection, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            return true
        }
    }

    deinit {
        _ = stopAccepting()
        service.library.calls.stop_daemon(handle)
    }

    /// - Returns: `false` if that was done before.
    private func stopAccepting() -> Bool {
        let isFirst = isStopping.withLock { isStopping in
            defer { isStopping = true }
            return !isStopping
        }
        guard isFirst else { return false }
        socket.removeFile()
        listener?.stop()
        // Returns the listening socket, which `socket` closes.
        _ = service.library.calls.quiesce_daemon(handle)
        service.stop()
        return true
    }

    // MARK: Callbacks, on libmicrohttpd's thread

    private static let callbacks = latchkey_http_callbacks(
        connection: { context, connection, stored, event in
            guard let context, let connection, let stored else { return }
            let service = Unmanaged<ServerContext>.fromOpaque(context).takeUnretainedValue()
            if event == .CONNECTION_NOTIFY_STARTED {
                // Repeated for each connection, because there is no callback for the start of the thread.
                CurrentThread.setName("local-api")
                let descriptor = latchkey_http_descriptor(service.library.table, connection)
                let opened = PeerConnection(descriptor, in: service.context(of: descriptor))
                stored.pointee = opened.map { Unmanaged.passRetained($0).toOpaque() }
            } else if let held = stored.pointee {
                stored.pointee = nil
                let closed = Unmanaged<PeerConnection>.fromOpaque(held).takeRetainedValue()
                closed.service.deadlines.forget(closed.descriptor)
            }
        },
        begun: { context, target, connection in
            guard let context, let target, let connection else { return nil }
            let service = Unmanaged<ServerContext>.fromOpaque(context).takeUnretainedValue()
            guard let held = latchkey_http_stored(service.library.table, connection) else { return nil }
            let peer = Unmanaged<PeerConnection>.fromOpaque(held).takeUnretainedValue()
            let text = Array(UnsafeRawBufferPointer(start: target, count: strlen(target)))
            let exchange: any ServedExchange =
                if let relay = peer.service.relay {
                    RelayExchange(connection, target: text, of: peer, relay: relay)
                } else {
                    LocalExchange(connection, target: text, of: peer, service: peer.service)
                }
            exchange.begin()
            return Unmanaged.passRetained(HeldExchange(exchange)).toOpaque()
        },
        handler: { _, _, _, method, version, body, size, held in
            // Without an exchange the connection was refused.
            guard let held = held?.pointee, let method, let version, let size else { return .NO }
            let piece = UnsafeRawBufferPointer(start: body, count: body == nil ? 0 : size.pointee)
            let exchange = Unmanaged<HeldExchange>.fromOpaque(held).takeUnretainedValue().exchange
            return exchange.handle(String(cString: method), String(cString: version), piece, left: &size.pointee)
                ? .YES : .NO
        },
        completed: { _, _, held, _ in
            guard let held, let ended = held.pointee else { return }
            held.pointee = nil
            Unmanaged<HeldExchange>.fromOpaque(ended).takeRetainedValue().exchange.complete()
        },
        // Paths and queries stay encoded: RequestTarget decodes them, strictly.
        unescape: { _, _, text in text.map { strlen($0) } ?? 0 })
}
