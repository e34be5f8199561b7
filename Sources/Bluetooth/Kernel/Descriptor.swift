import Dispatch
import Glibc

/// A descriptor that is closed with its last reference. What watches it holds one: the number is not given to another file
/// while libdispatch still looks at it.
final class Descriptor: Sendable {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    deinit { close(number) }

    enum Reading {
        case bytes([UInt8])
        /// Nothing is there now.
        case nothing
        /// The other side has gone, or the device: the `errno`, 0 for an orderly end.
        case ended(Int32)
    }

    /// One packet, or as much as there is, up to `limit` bytes.
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
    /// - Returns: 0, or the `errno`: `EAGAIN` where it has to wait.
    func write(_ packet: [UInt8]) -> Int32 {
        while true {
            // A connection that has gone is an answer to look at, not a signal.
            if send(number, packet, packet.count, Int32(MSG_NOSIGNAL)) >= 0 { return 0 }
            if errno != EINTR { return errno }
        }
    }

    /// Calls `ready` on the queue whenever there is something to read, until the watch is cancelled.
    func watch(on queue: BluetoothQueue, ready: @escaping @Sendable () -> Void) -> Watch {
        let source = DispatchSource.makeReadSource(fileDescriptor: number, queue: queue.queue)
        return Watch(source, self, ready)
    }

    /// As ``watch(on:ready:)``, for when it can be written.
    func watchWritable(on queue: BluetoothQueue, ready: @escaping @Sendable () -> Void) -> Watch {
        let source = DispatchSource.makeWriteSource(fileDescriptor: number, queue: queue.queue)
        return Watch(source, self, ready)
    }

    /// Ends with its last reference.
    final class Watch: @unchecked Sendable {
        // libdispatch's sources are made for use from several threads; this one never changes.
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
