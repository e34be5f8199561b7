/// What the owner of a ``GATTClient`` can have done.
enum GATTOperation: Sendable, Equatable {
    case exchangeMTU
    case discover(service: BluetoothUUID, characteristic: BluetoothUUID)
    /// Notifications, or indications where there is nothing else.
    case subscribe(RemoteCharacteristic)
    case read(RemoteCharacteristic)
    case write([UInt8], RemoteCharacteristic, withResponse: Bool)

    enum Outcome: Sendable, Equatable {
        /// In use from now on; 23 where the other side does not negotiate.
        case mtu(Int)
        case characteristic(RemoteCharacteristic?)
        /// `false` where there is no descriptor for it, or the other side refuses.
        case subscribed(Bool)
        case value([UInt8])
        case written
    }

    /// For messages.
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
