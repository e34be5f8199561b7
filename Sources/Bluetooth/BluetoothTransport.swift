public enum TransportKind: String, Sendable, Equatable {
    /// Through bluetoothd, over the system bus.
    case bluez
    /// Over the kernel's sockets, without bluetoothd.
    case kernel
}

/// The state of an adapter, as reported by a transport.
public struct AdapterStatus: Sendable, Equatable {
    public var transport: TransportKind
    /// Such as `hci0`; `nil` if there is none.
    public var adapter: String?
    public var address: BluetoothAddress?
    public var isPowered: Bool
    public var supportsLowEnergy: Bool
    /// Whether rfkill blocks it, in software or by a switch.
    public var isBlocked: Bool
    public var canAdvertise: Bool
    public var canScan: Bool
    /// Why it cannot be used.
    public var fault: BluetoothError?

    public init(
        transport: TransportKind, adapter: String? = nil, address: BluetoothAddress? = nil, isPowered: Bool = false,
        supportsLowEnergy: Bool = false, isBlocked: Bool = false, canAdvertise: Bool = false, canScan: Bool = false,
        fault: BluetoothError? = nil
    ) {
        self.transport = transport
        self.adapter = adapter
        self.address = address
        self.isPowered = isPowered
        self.supportsLowEnergy = supportsLowEnergy
        self.isBlocked = isBlocked
        self.canAdvertise = canAdvertise
        self.canScan = canScan
        self.fault = fault
    }
}

/// Bluetooth Low Energy, as a peripheral and as a central.
public protocol BluetoothTransport: Sendable {
    func status() async -> AdapterStatus

    /// Puts a service on the air, and powers the adapter if necessary.
    ///
    /// - Returns: when events can be read; the first ``PeripheralEvent/started`` means that it is on the air
    func serve(_ service: LocalService, advertising: Advertisement) async throws(BluetoothError) -> any Peripheral

    /// Sightings of peripherals that advertise a service, until their reader is canceled. A peripheral is reported
    /// repeatedly, as its RSSI changes.
    func scan(for service: BluetoothUUID) async throws(BluetoothError) -> AsyncThrowingStream<Sighting, any Error>

    func connect(to address: BluetoothAddress, timeout: Duration) async throws(BluetoothError) -> any RemotePeripheral

    /// Lets devices that use a protected service pair for the given time, because a person has just requested it.
    func openPairing(for duration: Duration) async throws(BluetoothError)

    /// Ends every activity started with this transport.
    func close() async
}

extension BluetoothTransport {
    /// Does nothing: for transports whose bonds are valid for the service alone, so that devices may pair whenever it
    /// is on the air.
    public func openPairing(for duration: Duration) async throws(BluetoothError) {}
}
