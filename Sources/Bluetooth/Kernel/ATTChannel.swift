import CBluetooth
import Glibc

/// An LE connection's ATT channel: one socket that sends and receives whole protocol data units. Used on its actor's
/// queue.
final class ATTChannel {
    /// The most protocol data units that wait to be sent. A peer that lets more accumulate is treated as gone.
    static let bound = 64
    /// The largest that is received, in bytes (Vol 3 Part F 3.2.9).
    static let limit = 517

    private let descriptor: Descriptor
    private let queue: BluetoothQueue
    private var watch: Descriptor.Watch?
    private var writing: Descriptor.Watch?
    private var waiting: [[UInt8]] = []
    private var isClosed = false
    private let readable: @Sendable () -> Void
    private let writable: @Sendable () -> Void

    /// - Parameter readable: called on the queue while there is something to read
    /// - Parameter writable: called on the queue when ``flush()`` is due
    init(
        _ descriptor: Descriptor, on queue: BluetoothQueue, readable: @escaping @Sendable () -> Void,
        writable: @escaping @Sendable () -> Void
    ) {
        self.descriptor = descriptor
        self.queue = queue
        self.readable = readable
        self.writable = writable
        watch = descriptor.watch(on: queue, ready: readable)
    }

    /// A channel to listen on, or to connect.
    ///
    /// - Throws: ``BluetoothError``
    static func socket(of adapter: KernelAdapter, operation: String) throws(BluetoothError) -> Descriptor {
        let identity = adapter.information.identity
        let number = latchkey_att_socket(identity.kernelBytes, identity.kernelKind)
        guard number >= 0 else { throw .system(operation, -number) }
        return Descriptor(number)
    }

    /// Encrypts the link, with an existing key or by pairing, and then sends a request. Only the kernel's management
    /// reports a failure.
    ///
    /// - Returns: `false` if it makes no sense: the link is encrypted already, or gone
    func secure(thenSend unit: [UInt8]) -> Bool {
        guard latchkey_secure(descriptor.number) == 0 else { return false }
        // Until then the kernel neither accepts packets nor reports the socket as writable.
        wait(with: unit)
        return true
    }

    private func wait(with unit: [UInt8]) {
        waiting.append(unit)
        // A peer that does not take its answers is not read from.
        watch = nil
        writing = descriptor.watchWritable(on: queue, ready: writable)
    }

    /// Stops reading incoming packets.
    func pause() { watch = nil }

    func resume() {
        guard watch == nil, writing == nil, !isClosed else { return }
        watch = descriptor.watch(on: queue, ready: readable)
    }

    /// Whether the link is encrypted now.
    var isEncrypted: Bool { latchkey_security_level(descriptor.number) >= BT_SECURITY_MEDIUM }

    func read() -> Descriptor.Reading {
        let reading = descriptor.read(limit: Self.limit)
        if case .bytes = reading { return reading }
        guard descriptor.isHungUp else {
            // An empty packet looks like the end of the connection.
            if case .ended(0) = reading { return .bytes([]) }
            return reading
        }
        // The kernel reports the end of the link before it delivers the last packets, such as a confirmation.
        if case .bytes(let last) = descriptor.read(limit: Self.limit) { return .bytes(last) }
        return .ended(0)
    }

    /// Whether the link has ended by itself.
    var isGone: Bool { descriptor.isHungUp }

    /// - Returns: `false` if the connection is unusable: it is gone, or the peer takes nothing.
    func send(_ unit: [UInt8]) -> Bool {
        guard waiting.isEmpty else {
            waiting.append(unit)
            return waiting.count <= Self.bound
        }
        switch descriptor.write(unit) {
        case 0: return true
        case EAGAIN:
            wait(with: unit)
            return true
        default: return false
        }
    }

    /// Sends waiting packets.
    ///
    /// - Returns: as ``send(_:)``
    func flush() -> Bool {
        while let next = waiting.first {
            switch descriptor.write(next) {
            case 0: waiting.removeFirst()
            case EAGAIN: return true
            default: return false
            }
        }
        writing = nil
        watch = descriptor.watch(on: queue, ready: readable)
        return true
    }

    /// Whether a packet sent now would have to wait; nothing is received meanwhile.
    var isCongested: Bool { !waiting.isEmpty }

    func close() {
        isClosed = true
        watch = nil
        writing = nil
        waiting = []
    }
}
