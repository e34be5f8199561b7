import CBluetooth
import Dispatch
import Groundwork

/// Waits for a connection attempt: until it succeeds, fails, takes too long, or is canceled.
actor ConnectionAttempt {
    nonisolated let queue: BluetoothQueue
    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
    private let descriptor: Descriptor
    private let operation: String
    private var watch: Descriptor.Watch?
    private var waiting: CheckedContinuation<BluetoothError?, Never>?

    init(_ descriptor: Descriptor, _ queue: BluetoothQueue, _ operation: String) {
        (self.descriptor, self.queue, self.operation) = (descriptor, queue, operation)
    }

    /// - Returns: `nil` if it is connected
    func outcome(within limit: Duration) async -> BluetoothError? {
        await withCancellableContinuation { continuation in
            guard !Task.isCancelled else { return continuation.resume(returning: .stopped) }
            waiting = continuation
            watch = descriptor.watchWritable(on: queue) { [weak self] in self?.assumeIsolated { $0.look() } }
            queue.queue.asyncAfter(deadline: .now() + limit.dispatched) { [weak self] in
                self?.assumeIsolated { $0.finish(.timedOut(operation: $0.operation)) }
            }
        } onCancel: {
            queue.queue.async { self.assumeIsolated { $0.finish(.stopped) } }
        }
    }

    private func look() {
        let status = latchkey_socket_error(descriptor.number)
        finish(status == 0 ? nil : .system(operation, -status))
    }

    private func finish(_ outcome: BluetoothError?) {
        watch = nil
        waiting?.resume(returning: outcome)
        waiting = nil
    }
}
