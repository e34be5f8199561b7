import Dispatch
import Glibc

/// A file descriptor that is closed with its last reference. Watches hold a reference, so that the number is not
/// reused while libdispatch still uses it.
final class Descriptor: Sendable {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    deinit { close(number) }

    enum Reading {
        case bytes([UInt8])
        /// There is nothing to read now.
        case nothing
        /// The peer or the device is gone: the `errno`, or 0 for an orderly end.
        case ended(Int32)
    }

    /// Reads one packet, or as much as there is, up to `limit` bytes.
    func read(limit: Int) -> Reading {
        var outcome: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            repeat {
                let got = Glibc.read(number, buffer.baseAddress, limit)
                count = max(got, 0)
                outcome = got < 0 ? errno : 0
            } while outcome == EINTR
        }
        if outcome == EAGAIN { return .nothing }
        return bytes.isEmpty ? .ended(outcome) : .bytes(bytes)
    }

    var isHungUp: Bool {
        var state = pollfd(fd: number, events: 0, revents: 0)
        return poll(&state, 1, 0) == 1 && state.revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0
    }

    /// Writes one packet.
    ///
    /// - Returns: 0, or the `errno`: `EAGAIN` if it has to wait.
    func write(_ packet: [UInt8]) -> Int32 {
        while true {
            // A broken connection must be an error, not a signal.
            if send(number, packet, packet.count, Int32(MSG_NOSIGNAL)) >= 0 { return 0 }
            if errno != EINTR { return errno }
        }
    }

    /// Calls `ready` on the queue whenever there is something to read, until the watch is canceled.
    func watch(on queue: BluetoothQueue, ready: @escaping @Sendable () -> Void) -> Watch {
        let source = DispatchSource.makeReadSource(fileDescriptor: number, queue: queue.queue)
        return Watch(source, self, ready)
    }

    /// Like ``watch(on:ready:)``, but for writing.
    func watchWritable(on queue: BluetoothQueue, ready: @escaping @Sendable () -> Void) -> Watch {
        let source = DispatchSource.makeWriteSource(fileDescriptor: number, queue: queue.queue)
        return Watch(source, self, ready)
    }

    /// A running watch, canceled with its last reference.
    final class Watch: @unchecked Sendable {
        // `@unchecked Sendable` is correct because this reference never changes, and a source of libdispatch may be
        // used from every thread: only its Swift type does not say so.
        private let source: any DispatchSourceProtocol

        fileprivate init(
            _ source: any DispatchSourceProtocol, _ descriptor: Descriptor, _ ready: @escaping @Sendable () -> Void
        ) {
            self.source = source
            source.setEventHandler(handler: ready)
            source.setCancelHandler { withExtendedLifetime(descriptor) {} }
            source.activate()
        }

        func cancel() { source.cancel() }

        deinit { source.cancel() }
    }
}
