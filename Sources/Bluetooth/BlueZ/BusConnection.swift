import CSystemd
import Dispatch
import Glibc

/// A connection to the system bus. Used only by the actor that opened it, on that actor's queue.
///
/// The descriptor is watched by dispatch sources; libsystemd's own deadlines by a timer that is set only while there is
/// one. libsystemd's callbacks put the message into ``inbox`` and nothing else.
final class BusConnection {
    private let calls: latchkey_bus_calls
    private let bus: OpaquePointer
    private let queue: DispatchQueue
    private let readable: any DispatchSourceRead
    private let writable: any DispatchSourceWrite
    private let deadline: any DispatchSourceTimer
    private var waitsToWrite = false
    private var isClosed = false
    private var replies: [UInt64: (Result<[BusValue], BusFailure>) -> Void] = [:]
    private var inbox: [BusMessage] = []

    /// An incoming message or the end of the connection.
    enum Incoming {
        case signal(sender: String, path: String, interface: String, member: String, arguments: [BusValue])
        case call(BusMessage)
        /// The reply to a call of this program, with the closure that takes it. Kept in order with the other
        /// messages: the reply is older than what follows it.
        case reply(Result<[BusValue], BusFailure>, (Result<[BusValue], BusFailure>) -> Void)
        /// The bus has closed the connection; nothing follows.
        case closed
    }

    struct Failure: Error { var code: CInt }

    /// - Parameters:
    ///   - wake: called on `queue` when ``process()`` has something to do.
    /// - Throws: libsystemd's errno
    init(_ library: BusLibrary, queue: DispatchQueue, wake: @escaping @Sendable () -> Void) throws(Failure) {
        calls = library.calls
        var opened: OpaquePointer?
        let status = calls.open_system(&opened)
        guard status >= 0, let opened else { throw Failure(code: -status) }
        let descriptor = calls.get_fd(opened)
        guard descriptor >= 0 else {
            _ = calls.close_unref(opened)
            throw Failure(code: -descriptor)
        }
        bus = opened
        self.queue = queue
        readable = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        writable = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
        deadline = DispatchSource.makeTimerSource(queue: queue)
        readable.setEventHandler(handler: wake)
        writable.setEventHandler(handler: wake)
        deadline.setEventHandler(handler: wake)
        _ = calls.add_filter(
            bus, nil,
            { message, context, _ in
                guard let message, let context else { return 0 }
                return Unmanaged<BusConnection>.fromOpaque(context).takeUnretainedValue().receive(message)
            }, Unmanaged.passUnretained(self).toOpaque())
        readable.activate()
        deadline.activate()
        // The initial handshake waits to be written.
        queue.async(execute: wake)
    }

    deinit { close() }

    /// Ends the connection. Calls in progress fail, and so do later ones.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        let waiting = replies
        replies = [:]
        inbox = []
        // A source must not be released suspended, and its descriptor not be closed before it has been canceled.
        if !waitsToWrite { writable.resume() }
        let release = calls.close_unref!
        // `nonisolated(unsafe)` is correct because only the block below uses it from now on, once both sources have
        // ended.
        nonisolated(unsafe) let bus = bus
        let group = DispatchGroup()
        for source in [readable, writable] as [any DispatchSourceProtocol] {
            group.enter()
            source.setCancelHandler { group.leave() }
            source.cancel()
        }
        deadline.cancel()
        group.notify(queue: queue) { _ = release(bus) }
        for reply in waiting.values { reply(.failure(.closed)) }
    }

    // MARK: Sending

    /// Makes a call. `reply` is called once: it comes out of ``process()``, or is called by ``close()``.
    func send(_ call: BusCall, reply: @escaping (Result<[BusValue], BusFailure>) -> Void) {
        var handle: OpaquePointer?
        guard !isClosed,
            calls.new_method_call(bus, &handle, call.destination, call.path, call.interface, call.member) >= 0,
            let handle
        else { return reply(.failure(.closed)) }
        let message = BusMessage(owning: handle, calls)
        // A call must not start bluetoothd: only the system does.
        _ = calls.set_auto_start(handle, 0)
        message.append(call.arguments)
        let (seconds, attoseconds) = call.timeout.components
        let microseconds = UInt64(max(seconds, 0)) * 1_000_000 + UInt64(max(attoseconds, 0) / 1_000_000_000_000)
        let context = Unmanaged.passUnretained(self).toOpaque()
        guard message.status >= 0,
            calls.call_async(
                bus, nil, handle,
                { message, context, _ in
                    guard let message, let context else { return 0 }
                    return Unmanaged<BusConnection>.fromOpaque(context).takeUnretainedValue().receive(message)
                }, context, max(microseconds, 1)) >= 0
        else { return reply(.failure(.closed)) }
        replies[message.cookie] = reply
        rearm()
    }

    func emitPropertiesChanged(path: String, interface: String, _ changed: [(String, BusArgument)]) {
        var handle: OpaquePointer?
        guard !isClosed, calls.new_signal(bus, &handle, path, BlueZName.properties, "PropertiesChanged") >= 0,
            let handle
        else { return }
        let message = BusMessage(owning: handle, calls)
        message.append([.text(interface), .options(changed), .texts([])])
        send(message)
    }

    func answer(_ call: BusMessage, with arguments: [BusArgument] = []) {
        var handle: OpaquePointer?
        guard !isClosed, calls.new_method_return(call.handle, &handle) >= 0, let handle else { return }
        let message = BusMessage(owning: handle, calls)
        message.append(arguments)
        send(message)
    }

    func refuse(_ call: BusMessage, _ failure: BusFailure) {
        var handle: OpaquePointer?
        guard !isClosed else { return }
        failure.name.withCString { name in
            failure.text.withCString { text in
                var error = sd_bus_error(name: name, message: text, _need_free: 0)
                _ = calls.new_method_error(call.handle, &handle, &error)
            }
        }
        guard let handle else { return }
        send(BusMessage(owning: handle, calls))
    }

    private func send(_ message: BusMessage) {
        guard message.status >= 0 else { return }
        _ = calls.send(bus, message.handle, nil)
        rearm()
    }

    // MARK: Receiving

    /// Sends and receives as much as possible without blocking, and returns incoming messages in order.
    func process() -> [Incoming] {
        var incoming: [Incoming] = []
        while !isClosed {
            let status = calls.process(bus, nil)
            let messages = inbox
            inbox = []
            for message in messages { take(message, into: &incoming) }
            if status < 0 {
                incoming.append(.closed)
                close()
            }
            if status <= 0 { break }
        }
        rearm()
        return incoming
    }

    private func take(_ message: BusMessage, into incoming: inout [Incoming]) {
        switch Int(message.kind) {
        case SD_BUS_MESSAGE_METHOD_CALL: incoming.append(.call(message))
        case SD_BUS_MESSAGE_SIGNAL:
            incoming.append(
                .signal(
                    sender: message.sender,
                    path: message.path, interface: message.interface, member: message.member,
                    arguments: message.arguments()))
        default:
            guard let reply = replies.removeValue(forKey: message.replyCookie) else { return }
            incoming.append(.reply(message.failure.map { .failure($0) } ?? .success(message.arguments()), reply))
        }
    }

    /// - Returns: 1 for messages that libsystemd must not answer itself.
    private func receive(_ message: OpaquePointer) -> CInt {
        let message = BusMessage(sharing: message, calls)
        let kind = Int(message.kind)
        if kind == SD_BUS_MESSAGE_METHOD_CALL, message.interface == BlueZName.peer { return 0 }
        inbox.append(message)
        return kind == SD_BUS_MESSAGE_SIGNAL ? 0 : 1
    }

    /// Sets sources and timer to what libsystemd waits for now.
    private func rearm() {
        guard !isClosed else { return }
        let wantsToWrite = calls.get_events(bus) & POLLOUT != 0
        if wantsToWrite != waitsToWrite {
            waitsToWrite = wantsToWrite
            if wantsToWrite { writable.resume() } else { writable.suspend() }
        }
        var due: UInt64 = .max
        guard calls.get_timeout(bus, &due) >= 0, due != .max else { return deadline.schedule(deadline: .distantFuture) }
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let now = UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
        deadline.schedule(deadline: .now() + .microseconds(Int(clamping: due > now ? due - now : 0)))
    }
}
