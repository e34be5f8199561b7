import Dispatch

/// A scan for one service, until its reader ends it.
actor KernelScan {
    /// The most sightings that wait for the reader; the oldest are dropped beyond it.
    private static let bound = 64
    /// How often the scan is restarted, to hear which devices are there and how strong. Controllers report a device
    /// once per scan, and the kernel drops a report that arrives before it knows that the scan has begun. Longer than
    /// the slowest usual advertising interval, 1.28 s.
    private static let refresh = DispatchTimeInterval.seconds(2)

    nonisolated var unownedExecutor: UnownedSerialExecutor { socket.unownedExecutor }
    private let socket: ManagementSocket
    private let adapter: KernelAdapter
    private let service: BluetoothUUID
    private nonisolated let continuation: AsyncThrowingStream<Sighting, any Error>.Continuation
    private var isScanning = false
    private var isRefreshDue = false

    /// - Throws: ``BluetoothError`` if no scan can begin
    static func start(for service: BluetoothUUID, on radio: KernelRadio, queue: BluetoothQueue)
        async throws(BluetoothError)
        -> (KernelScan, AsyncThrowingStream<Sighting, any Error>)
    {
        let socket = try ManagementSocket(queue: queue, interest: .sightings)
        do throws(BluetoothError) {
            let adapter = try await socket.ready(radio, mayPower: true)
            let (stream, continuation) = AsyncThrowingStream.makeStream(
                of: Sighting.self, bufferingPolicy: .bufferingNewest(bound))
            let scan = KernelScan(socket, adapter, service, continuation)
            try await scan.begin()
            let task = Task { await scan.run() }
            continuation.onTermination = { _ in task.cancel() }
            return (scan, stream)
        } catch {
            await socket.close()
            throw error
        }
    }

    private init(
        _ socket: ManagementSocket, _ adapter: KernelAdapter, _ service: BluetoothUUID,
        _ continuation: AsyncThrowingStream<Sighting, any Error>.Continuation
    ) {
        (self.socket, self.adapter, self.service, self.continuation) = (socket, adapter, service, continuation)
    }

    nonisolated func stop() { continuation.finish() }

    /// Begins a scan. If another program is scanning, waits for its end: the kernel has one scan at a time.
    private func begin() async throws(BluetoothError) {
        isScanning = try await socket.begins(.startServiceDiscovery(adapter.index, service: service))
        refreshLater()
    }

    private func run() async {
        do {
            for await message in socket.news where message.index == adapter.index {
                try await notice(message.event)
            }
            continuation.finish()
        } catch {
            continuation.finish(throwing: error)
        }
        if isScanning { _ = try? await socket.send(.stopDiscovery(adapter.index)) }
        await socket.close()
    }

    private func notice(_ event: ManagementMessage.Event) async throws(BluetoothError) {
        switch event {
        case .found(let address, let rssi, let data) where data.services.contains(service):
            continuation.yield(Sighting(address: address, rssi: rssi, name: data.name))
        case .discovering(false):
            isScanning = false
            try await begin()
        case .adapterRemoved: throw .noAdapter(name: adapter.name)
        case .settings(let settings) where !settings.contains(.powered):
            isScanning = false
            throw adapter.blocked ?? .switchedOff(adapter)
        case .answer, .adapterAdded, .settings, .connected, .disconnected, .found, .discovering, .advertisingRemoved,
            .confirmation, .longTermKey, .identity, .pairingFailed, .other:
            break
        }
    }

    private func refreshLater() {
        guard !isRefreshDue else { return }
        isRefreshDue = true
        socket.queue.queue.asyncAfter(deadline: .now() + Self.refresh) { [weak self] in
            self?.assumeIsolated { $0.refreshNow() }
        }
    }

    private func refreshNow() {
        isRefreshDue = false
        // The end of the scan is reported, and then the next begins.
        guard isScanning else { return }
        Task { _ = try? await socket.send(.stopDiscovery(adapter.index)) }
    }
}

extension ManagementSocket {
    /// - Returns: `false` if the kernel is busy with a similar command
    func begins(_ command: ManagementCommand) async throws(BluetoothError) -> Bool {
        switch await exchange(command) {
        case .answer(.success, _): return true
        case .answer(.busy, _): return false
        case .answer(let status, _): throw BluetoothError(status, of: command)
        case .noAnswer: throw .timedOut(operation: command.operation)
        case .closed: throw .stopped
        }
    }
}
