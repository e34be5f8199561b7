extension BluetoothError {
    /// The error for a D-Bus error of bluetoothd or of the bus itself.
    init(_ failure: BusFailure, operation: String) {
        switch failure.name {
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
            "org.freedesktop.DBus.Error.Disconnected":
            self = .daemonMissing
        case "org.freedesktop.DBus.Error.AccessDenied": self = .noPermission(operation: operation)
        case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout",
            "org.freedesktop.DBus.Error.TimedOut":
            self = .timedOut(operation: operation)
        case "org.bluez.Error.NotConnected": self = .disconnected
        case "org.bluez.Error.NotReady": self = .failed(operation: operation, reason: "the adapter is off")
        default:
            if let code = Self.attCode(in: failure.text) {
                self = .att(code, operation: operation)
            } else {
                self = .failed(operation: operation, reason: Self.printable(failure))
            }
        }
    }

    /// Parses `Operation failed with ATT error: 0x03`, the form in which bluetoothd passes on ATT errors.
    private static func attCode(in text: String) -> ATTErrorCode? {
        let mark = "ATT error: 0x"
        guard text.contains(mark), let digits = text.split(separator: "x").last else { return nil }
        return UInt8(digits, radix: 16).map { ATTErrorCode(rawValue: $0) }
    }

    private static func printable(_ failure: BusFailure) -> String {
        let name = failure.name.split(separator: ".").last.map(String.init) ?? failure.name
        return failure.text.isEmpty ? name : "\(failure.text) (\(name))"
    }
}
