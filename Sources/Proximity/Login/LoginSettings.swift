import Bluetooth

public struct ProximityLoginSettings: Sendable {
    public var service: BluetoothUUID
    public var characteristic: BluetoothUUID
    /// This device's name, for the other device's user.
    public var deviceName: String?
    /// The weakest accepted signal, in dBm (MAG 8.3).
    public var leastSignal = -80
    /// The time from the first device that is near enough to the choice of the nearest.
    public var window = Duration.seconds(2)
    public var connectionTimeout = Duration.seconds(10)
    /// Whether to send pieces larger than 20 bytes if the connection supports them. The reference clients can read
    /// them, but never receive any.
    public var allowsLargePieces = false
    public var polling = PollingPlan()
    /// The maximum duration of a login, shorter than the lifetime of an authorization session.
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

    /// The bytes of one write on a connection with this MTU: three of them are for the opcode and the handle.
    func pieceSize(mtu: Int) -> Int { allowsLargePieces ? min(max(mtu - 3, 20), 512) : 20 }
}
