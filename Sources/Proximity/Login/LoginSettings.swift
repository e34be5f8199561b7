import Bluetooth

public struct ProximityLoginSettings: Sendable {
    public var service: BluetoothUUID
    public var characteristic: BluetoothUUID
    /// This device's name, as the other one's user reads it.
    public var deviceName: String?
    /// The weakest signal that is answered, in dBm (MAG 8.3).
    public var leastSignal = -80
    /// From the first device that is near enough to the choice of the nearest.
    public var window = Duration.seconds(2)
    public var connectionTimeout = Duration.seconds(10)
    /// Larger pieces than 20 bytes where the connection carries them. The reference clients read these too, but were
    /// never sent any.
    public var allowsLargePieces = false
    public var polling = PollingPlan()
    /// The most that a login may take: shorter than an authorization session lives.
    public var limit = Duration.seconds(110)

    public init(service: BluetoothUUID, characteristic: BluetoothUUID) {
        self.service = service
        self.characteristic = characteristic
    }

    /// - Throws: ``ProximityError/invalidUUID(_:)``
    public init(serviceUUID: String, characteristicUUID: String) throws(ProximityError) {
        self.init(
            service: try BluetoothUUID(checking: serviceUUID),
            characteristic: try BluetoothUUID(checking: characteristicUUID))
    }

    /// The bytes of one write on a connection with this MTU: three are the opcode and the handle.
    func pieceSize(mtu: Int) -> Int { allowsLargePieces ? min(max(mtu - 3, 20), 512) : 20 }
}
