/// An operation of a ``GATTClient``.
enum GATTOperation: Sendable, Equatable {
    case exchangeMTU
    case discover(service: BluetoothUUID, characteristic: BluetoothUUID)
    /// Enables notifications, or indications if there is nothing else.
    case subscribe(RemoteCharacteristic)
    case read(RemoteCharacteristic)
    case write([UInt8], RemoteCharacteristic, withResponse: Bool)

    enum Outcome: Sendable, Equatable {
        /// The MTU in use from now on; 23 if the other device does not negotiate.
        case mtu(Int)
        case characteristic(RemoteCharacteristic?)
        /// `false` if there is no descriptor for it, or the other device refuses.
        case subscribed(Bool)
        case value([UInt8])
        case written
    }

    /// A name for messages.
    var words: String {
        switch self {
        case .exchangeMTU: "agree on the size of packets"
        case .discover: "look for the service"
        case .subscribe: "enable notifications"
        case .read: "read a value"
        case .write: "write a value"
        }
    }
}
