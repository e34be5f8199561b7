public enum TransportKind: String, Sendable, Equatable {
    /// Through bluetoothd, over the system bus.
    case bluez
    /// Over the kernel's sockets, without bluetoothd.
    case kernel
}

/// An adapter as a transport finds it.
public struct AdapterStatus: Sendable, Equatable {
    public var transport: TransportKind
    /// Such as `hci0`; `nil` where there is none.
    public var adapter: String?
    public var address: BluetoothAddress?
    public var isPowered: Bool
    public var supportsLowEnergy: Bool
    /// By rfkill, in software or by a switch.
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
    var kind: TransportKind { get }

    func status() async -> AdapterStatus

    /// Puts a service on the air, and powers the adapter if need be.
    ///
    /// - Returns: once events can be read; the first ``PeripheralEvent/started`` tells that it is on the air
    func serve(_ service: LocalService, advertising: Advertisement) async throws(BluetoothError) -> any Peripheral

    /// Sightings of peripherals that advertise a service, until their reader is cancelled. One peripheral is seen again and
    /// again: its RSSI changes.
    func scan(for service: BluetoothUUID) async throws(BluetoothError) -> AsyncThrowingStream<Sighting, any Error>

    func connect(to address: BluetoothAddress, timeout: Duration) async throws(BluetoothError) -> any RemotePeripheral

    /// Lets devices pair for a while that use a protected service, as a person has just asked for that.
    func openPairing(for duration: Duration) async throws(BluetoothError)

    /// Ends all that was begun with it.
    func close() async
}

extension BluetoothTransport {
    /// Where a bond is good for the service alone, devices may pair whenever it is on the air.
    public func openPairing(for duration: Duration) async throws(BluetoothError) {}
}
