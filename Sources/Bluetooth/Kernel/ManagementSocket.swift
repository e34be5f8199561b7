import CBluetooth
import Dispatch
import Glibc

/// The control channel of the kernel's Bluetooth management: commands with their answers, and events of all adapters.
///
/// Reading is allowed to everyone; changes need `CAP_NET_ADMIN`.
actor ManagementSocket {
    /// The events that the owner wants. Others would only displace them.
    enum Interest { case answers, pairing, adapters, sightings }

    /// How long the kernel may take for an answer. It gives up on a controller itself after a few seconds.
    private static let patience = DispatchTimeInterval.seconds(20)
    /// The most events that wait for their reader; beyond it the oldest are dropped.
    private static let bound = 256

    private struct Waiting {
        let number: UInt64
        let opcode: UInt16
        let index: ManagementCommand.Index
        let continuation: CheckedContinuation<Outcome, Never>
    }

    enum Outcome {
        case answer(ManagementStatus, [UInt8])
        case noAnswer
        case closed
    }

    nonisolated let queue: BluetoothQueue
    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
    /// Events, without answers. Ends with ``close()``.
    nonisolated let news: AsyncStream<ManagementMessage>
    private nonisolated let continuation: AsyncStream<ManagementMessage>.Continuation
    private nonisolated let descriptor: Descriptor
    private let interest: Interest
    private var watch: Descriptor.Watch?
    private var waiting: [Waiting] = []
    private var count: UInt64 = 0
    private var isClosed = false

    /// - Throws: ``BluetoothError/failed(operation:reason:)``, such as if the kernel has no Bluetooth
    init(queue: BluetoothQueue, interest: Interest) throws(BluetoothError) {
        let number = latchkey_bluetooth_control()
        guard number >= 0 else { throw .system("open the kernel's Bluetooth management", -number) }
        self.queue = queue
        self.interest = interest
        descriptor = Descriptor(number)
        (news, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.bound))
    }

    /// - Throws: the kernel's refusal; ``BluetoothError/noPermission(operation:)`` without `CAP_NET_ADMIN`
    @discardableResult
    func send(_ command: ManagementCommand) async throws(BluetoothError) -> [UInt8] {
        switch await exchange(command) {
        case .answer(.success, let parameters): return parameters
        case .answer(let status, _): throw BluetoothError(status, of: command)
        case .noAnswer: throw .timedOut(operation: command.operation)
        case .closed: throw .stopped
        }
    }

    func exchange(_ command: ManagementCommand) async -> Outcome {
        guard !isClosed else { return .closed }
        if watch == nil { startWatching() }
        count += 1
        let number = count
        return await withCheckedContinuation { continuation in
            waiting.append(
                Waiting(number: number, opcode: command.opcode, index: command.index, continuation: continuation))
            guard descriptor.write(command.bytes) == 0 else { return finish(number, .noAnswer) }
            queue.queue.asyncAfter(deadline: .now() + Self.patience) { [weak self] in
                self?.assumeIsolated { $0.finish(number, .noAnswer) }
            }
        }
    }

    private func finish(_ number: UInt64, _ outcome: Outcome) {
        guard let place = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: place).continuation.resume(returning: outcome)
    }

    /// Starts reporting events.
    func startWatching() {
        guard watch == nil, !isClosed else { return }
        watch = descriptor.watch(on: queue) { [weak self] in self?.assumeIsolated { $0.readMessages() } }
    }

    private func readMessages() {
        // A few at a time, because others use the queue too.
        for _ in 0..<32 {
            let bytes: [UInt8]
            switch descriptor.read(limit: ManagementMessage.limit) {
            case .bytes(let read): bytes = read
            case .nothing: return
            case .ended: return close()
            }
            guard let message = ManagementMessage(parsing: bytes) else { continue }
            switch message.event {
            case .answer(let opcode, let status, let parameters):
                guard let first = waiting.first(where: { $0.opcode == opcode && $0.index == message.index }) else {
                    continue
                }
                finish(first.number, .answer(status, parameters))
            case .other: continue
            case .found: if interest == .sightings { continuation.yield(message) }
            case .confirmation, .longTermKey, .identity, .pairingFailed:
                if interest == .pairing || interest == .adapters { continuation.yield(message) }
            case .adapterAdded, .adapterRemoved, .settings, .connected, .disconnected, .discovering,
                .advertisingRemoved:
                if interest == .adapters || interest == .sightings { continuation.yield(message) }
            }
        }
    }

    func close() {
        isClosed = true
        watch = nil
        continuation.finish()
        for each in waiting { each.continuation.resume(returning: .closed) }
        waiting.removeAll()
    }
}
