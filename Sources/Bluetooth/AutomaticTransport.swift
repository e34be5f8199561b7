import Synchronization

/// Bluetooth through bluetoothd where it answers on the system bus, otherwise from the kernel.
///
/// bluetoothd may start seconds after this program, be installed later, or end for good. So it is decided anew for each
/// activity; and a service on the air ends when the decision would be another, so that its caller puts it on the air
/// again.
final class AutomaticTransport: BluetoothTransport {
    /// How long bluetoothd may be away for a restart, which ``BlueZTransport`` survives by itself.
    static let restart = Duration.seconds(5)

    private let daemon: any BluetoothTransport
    private let kernel: any BluetoothTransport
    private let presence: @Sendable () async -> AsyncStream<Bool>
    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - daemon: the transport whose status has the fault ``BluetoothError/daemonMissing`` without bluetoothd.
    ///   - presence: from then on, whether bluetoothd is there, at each change.
    init(
        daemon: any BluetoothTransport, kernel: any BluetoothTransport,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        presence: @escaping @Sendable () async -> AsyncStream<Bool>
    ) {
        (self.daemon, self.kernel, self.presence, self.sleep) = (daemon, kernel, presence, sleep)
    }

    /// A running bluetoothd occupies the ATT channel, whatever its state: the kernel's transport only works without it.
    private var hasDaemon: Bool { get async { await daemon.status().fault != .daemonMissing } }

    private var transport: any BluetoothTransport { get async { await hasDaemon ? daemon : kernel } }

    func status() async -> AdapterStatus {
        let status = await daemon.status()
        return status.fault == .daemonMissing ? await kernel.status() : status
    }

    func serve(_ service: LocalService, advertising: Advertisement) async throws(BluetoothError) -> any Peripheral {
        // Before the decision, so that no change after it is missed.
        let changes = await presence()
        let isByDaemon = await hasDaemon
        let peripheral = try await (isByDaemon ? daemon : kernel).serve(service, advertising: advertising)
        let served = ServedOnce(peripheral)
        let watch = Task { [weak self] in
            for await isThere in changes where isThere != isByDaemon {
                if isByDaemon {
                    guard let self, (try? await self.sleep(Self.restart)) != nil else { return }
                    if await self.hasDaemon { continue }
                }
                return await served.stop()
            }
        }
        return WatchedPeripheral(served: served, watch: watch)
    }

    func scan(for service: BluetoothUUID) async throws(BluetoothError) -> AsyncThrowingStream<Sighting, any Error> {
        try await transport.scan(for: service)
    }

    func connect(to address: BluetoothAddress, timeout: Duration) async throws(BluetoothError)
        -> any RemotePeripheral
    {
        try await transport.connect(to: address, timeout: timeout)
    }

    func openPairing(for duration: Duration) async throws(BluetoothError) {
        try await transport.openPairing(for: duration)
    }

    func close() async {
        await daemon.close()
        await kernel.close()
    }
}

/// A service that is stopped once, by the first caller: later it may have a successor at the same transport, which
/// would be stopped in its place.
private final class ServedOnce: Sendable {
    let peripheral: any Peripheral
    private let isStopped = Mutex(false)

    init(_ peripheral: any Peripheral) { self.peripheral = peripheral }

    func stop() async {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        if isFirst { await peripheral.stop() }
    }
}

/// A service that ends when another transport has to carry it.
private struct WatchedPeripheral: Peripheral {
    let served: ServedOnce
    let watch: Task<Void, Never>

    private var peripheral: any Peripheral { served.peripheral }
    var events: AsyncStream<PeripheralEvent> { peripheral.events }

    func notify(
        _ value: [UInt8], to central: CentralID, characteristic: BluetoothUUID,
        sparing: @escaping @Sendable () async -> Set<CentralID>
    ) async throws(BluetoothError) {
        try await peripheral.notify(value, to: central, characteristic: characteristic, sparing: sparing)
    }

    func keep(_ central: CentralID) async { await peripheral.keep(central) }
    func disconnect(_ central: CentralID) async { await peripheral.disconnect(central) }

    func stop() async {
        watch.cancel()
        await served.stop()
    }
}
