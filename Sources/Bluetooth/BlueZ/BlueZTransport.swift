import Groundwork

/// Bluetooth through bluetoothd, which other programs of the board may use at the same time.
///
/// It resumes by itself after bluetoothd has been restarted, or the adapter was removed and added again. Limits of
/// bluetoothd:
///
/// - A value goes to every subscribed central. ``Peripheral/notify(_:to:characteristic:)`` disconnects the others
///   first.
/// - A central that has not subscribed cannot be sent anything.
/// - bluetoothd does not report which of the two modes a central enabled: subscriptions are always reported as
///   ``SubscriptionMode/notify``, although bluetoothd sends in the enabled mode. Nor does it report when an
///   indication was confirmed.
/// - A central is known from its first write or subscription on.
/// - A protected characteristic requires an encrypted connection, and bluetoothd uses LE Secure Connections if both
///   sides can. It neither requires them nor reports the kind of key: a central that uses legacy pairing is admitted,
///   and so is one that does not keep its bond. bluetoothd keeps bonds on disk, and a bond is valid for all profiles
///   of the device. So devices can pair only after ``openPairing(for:)``, and only the bond of an admitted device is
///   kept.
/// - A peripheral in sight is reported again only when its signal strength changes.
public struct BlueZTransport: BluetoothTransport {
    private let bluez: BlueZ

    /// - Parameter adapter: `hci1`, an address, or empty for the first
    public init(adapter: String) { bluez = BlueZ(adapter: adapter) }

    public func status() async -> AdapterStatus { await bluez.status() }

    /// If bluetoothd or the adapter is not there yet, the first event is ``PeripheralEvent/interrupted(_:)``, and
    /// ``PeripheralEvent/started`` follows once it is.
    public func serve(_ service: LocalService, advertising: Advertisement) async throws(BluetoothError)
        -> any Peripheral
    {
        BlueZPeripheral(bluez: bluez, events: try await bluez.serve(service, advertising: advertising))
    }

    public func scan(for service: BluetoothUUID) async throws(BluetoothError) -> AsyncThrowingStream<
        Sighting, any Error
    > {
        try await bluez.scan(for: service)
    }

    public func connect(to address: BluetoothAddress, timeout: Duration) async throws(BluetoothError)
        -> any RemotePeripheral
    {
        let (path, values) = try await bluez.connect(to: address, timeout: timeout)
        return BlueZRemotePeripheral(bluez: bluez, device: path, values: values)
    }

    /// Whether bluetoothd is there, at each change from now on.
    func presence() -> AsyncStream<Bool> { bluez.presence.subscribe(bound: 16) }

    public func openPairing(for duration: Duration) async throws(BluetoothError) {
        try await bluez.openPairing(for: duration)
    }

    public func close() async { await bluez.close() }
}

struct BlueZPeripheral: Peripheral {
    let bluez: BlueZ
    let events: AsyncStream<PeripheralEvent>

    func notify(
        _ value: [UInt8], to central: CentralID, characteristic: BluetoothUUID,
        sparing: @escaping @Sendable () async -> Set<CentralID>
    ) async throws(BluetoothError) {
        try await bluez.notify(value, to: central, characteristic: characteristic, sparing: sparing)
    }

    func keep(_ central: CentralID) async { await bluez.keep(central) }
    func disconnect(_ central: CentralID) async { await bluez.disconnect(central) }
    func stop() async { await bluez.stopServing() }
}

struct BlueZRemotePeripheral: RemotePeripheral {
    let bluez: BlueZ
    let device: String
    let values: AsyncStream<RemoteValue>

    func discover(
        service: BluetoothUUID, characteristic: BluetoothUUID
    ) async throws(BluetoothError) -> RemoteCharacteristic? {
        try await bluez.find(characteristic, of: service, on: device)
    }

    func subscribe(_ characteristic: RemoteCharacteristic) async throws(BluetoothError) -> Bool {
        try await bluez.subscribe(try path(of: characteristic), on: device)
    }

    func write(_ value: [UInt8], to characteristic: RemoteCharacteristic, withResponse: Bool)
        async throws(BluetoothError)
    {
        try await bluez.write(value, to: try path(of: characteristic), on: device, withResponse: withResponse)
    }

    var mtu: Int { get async { await bluez.mtu(of: device) } }
    func close() async { await bluez.endLink(device) }

    private func path(of characteristic: RemoteCharacteristic) throws(BluetoothError) -> String {
        guard let path = characteristic.path, path.hasPrefix(device + "/") else {
            throw .failed(operation: "use \(characteristic.uuid)", reason: "it is not one of this connection's")
        }
        return path
    }
}
