import CBluetooth
import Glibc

/// An LE connection's ATT channel: one socket, whole protocol data units in and out. Lives on its actor's queue.
final class ATTChannel {
    /// The most protocol data units that wait to be sent. A peer that takes none for so long is as good as gone.
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

    /// Encrypts the link, with a key that both sides have or by pairing, and sends a request when that is done. Nothing tells
    /// that it failed but the kernel's management.
    ///
    /// - Returns: `false` where nothing can be gained: the link is encrypted, or has gone
    func secure(thenSend unit: [UInt8]) -> Bool {
        guard latchkey_secure(descriptor.number) == 0 else { return false }
        // Until then the kernel neither takes packets nor says that it would.
        wait(with: unit)
        return true
    }

    private func wait(with unit: [UInt8]) {
        waiting.append(unit)
        // Who does not take answers is not asked for more.
        watch = nil
        writing = descriptor.watchWritable(on: queue, ready: writable)
    }

    /// Leaves what comes in unread.
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
            // An empty packet looks like the end.
            if case .ended(0) = reading { return .bytes([]) }
            return reading
        }
        // The kernel tells that the link has gone before it hands over what arrived last, such as a confirmation.
        if case .bytes(let last) = descriptor.read(limit: Self.limit) { return .bytes(last) }
        return .ended(0)
    }

    /// Whether the link has gone by itself.
    var isGone: Bool { descriptor.isHungUp }

    /// - Returns: `false` where the connection is of no use any more: it has gone, or takes nothing.
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

    /// Sends on what had to wait.
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

    /// Whether what is sent now would wait; nothing is received then.
    var isCongested: Bool { !waiting.isEmpty }

    func close() {
        isClosed = true
        watch = nil
        writing = nil
        waiting = []
    }
}
