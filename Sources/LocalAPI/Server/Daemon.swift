import CMicroHTTPD
import Glibc
import Synchronization

/// libmicrohttpd at work on a listening socket: owns both, and ends with its last reference.
final class Daemon: @unchecked Sendable {
    // Nothing changes after the start but through `isQuiet`; libmicrohttpd may be stopped from any thread but its own.
    private let handle: OpaquePointer
    private let socket: ListeningSocket
    private let service: LocalService
    private let isQuiet = Mutex(false)

    /// - Throws: ``LocalAPIError/cannotListen(path:reason:)``
    init(on socket: consuming ListeningSocket, serving service: LocalService) throws(LocalAPIError) {
        let limits = service.limits
        let started = latchkey_http_start(
            service.library.table, socket.descriptor,
            latchkey_http_limits(
                connections: limits.connections, stall_seconds: UInt32(clamping: limits.stall.components.seconds),
                // Beside the head, what libmicrohttpd keeps of it and the piece that is being written need room.
                connection_memory: limits.headBytes + (32 << 10)),
            Self.callbacks,
            // The service outlives the daemon: this object holds it, and stops the daemon first.
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

    /// Accepts nobody any more, tells whoever is there, and waits until that is written.
    func quiet(within limit: Duration) async {
        guard hushes() else { return }
        await service.finish(within: limit)
    }

    deinit {
        _ = hushes()
        service.library.calls.stop_daemon(handle)
    }

    private func hushes() -> Bool {
        let isFirst = isQuiet.withLock { isQuiet in
            defer { isQuiet = true }
            return !isQuiet
        }
        guard isFirst else { return false }
        socket.removeFile()
        // Gives the listening socket back, which `socket` closes.
        _ = service.library.calls.quiesce_daemon(handle)
        service.stop()
        return true
    }

    // MARK: Callbacks, on libmicrohttpd's thread

    private static let callbacks = latchkey_http_callbacks(
        connection: { context, connection, stored, event in
            guard let context, let connection, let stored else { return }
            let service = Unmanaged<LocalService>.fromOpaque(context).takeUnretainedValue()
            if event == .CONNECTION_NOTIFY_STARTED {
                // Here and not once, as there is no callback for the start of the thread.
                latchkey_name_http_thread("local-api")
                let opened = PeerConnection(latchkey_http_descriptor(service.library.table, connection), in: service)
                stored.pointee = opened.map { Unmanaged.passRetained($0).toOpaque() }
            } else if let held = stored.pointee {
                stored.pointee = nil
                let closed = Unmanaged<PeerConnection>.fromOpaque(held).takeRetainedValue()
                service.deadlines.forget(closed.descriptor)
            }
        },
        begun: { context, target, connection in
            guard let context, let target, let connection else { return nil }
            let service = Unmanaged<LocalService>.fromOpaque(context).takeUnretainedValue()
            guard let held = latchkey_http_stored(service.library.table, connection) else { return nil }
            let exchange = Exchange(
                connection, target: Array(UnsafeRawBufferPointer(start: target, count: strlen(target))),
                of: Unmanaged<PeerConnection>.fromOpaque(held).takeUnretainedValue(),
                service: service)
            exchange.begin()
            return Unmanaged.passRetained(exchange).toOpaque()
        },
        handler: { _, _, _, method, _, body, size, held in
            // Without an exchange the connection was refused.
            guard let held = held?.pointee, let method, let size else { return .NO }
            let piece = UnsafeRawBufferPointer(start: body, count: body == nil ? 0 : size.pointee)
            size.pointee = 0
            let exchange = Unmanaged<Exchange>.fromOpaque(held).takeUnretainedValue()
            return exchange.handle(String(cString: method), piece) ? .YES : .NO
        },
        completed: { _, _, held, _ in
            guard let held, let ended = held.pointee else { return }
            held.pointee = nil
            Unmanaged<Exchange>.fromOpaque(ended).takeRetainedValue().complete()
        },
        // Paths and queries stay as they came: RequestTarget decodes them, strictly.
        unescape: { _, _, text in text.map { strlen($0) } ?? 0 })
}
