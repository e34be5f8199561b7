import Groundwork

/// An error between this board and a nearby device.
public enum BluetoothError: Explained, Equatable {
    /// - Parameter name: the name that was looked for; empty for any
    case noAdapter(name: String)
    /// The radio is blocked by rfkill.
    case blocked(adapter: String, hard: Bool)
    case noPermission(operation: String)
    case noLowEnergy(adapter: String)
    case daemonMissing
    case disconnected
    case timedOut(operation: String)
    /// The other side refused a request.
    case att(ATTErrorCode, operation: String)
    /// The value does not fit into one packet of the attribute protocol.
    case tooLong
    case failed(operation: String, reason: String)
    /// The service or the transport was stopped.
    case stopped

    public var explanation: Explanation {
        switch self {
        case .noAdapter(let name):
            Explanation(
                "bluetooth.no-adapter", .unavailable,
                "there is no Bluetooth adapter\(name.isEmpty ? "" : " \(name)")",
                remedy: "plug one in, or check `rfkill` and `dmesg` for the missing one")
        case .blocked(let adapter, true):
            Explanation(
                "bluetooth.blocked", .unavailable, "Bluetooth adapter \(adapter) is switched off by hardware",
                remedy: "turn on the switch of the device")
        case .blocked(let adapter, false):
            Explanation(
                "bluetooth.blocked", .unavailable, "Bluetooth adapter \(adapter) is blocked by rfkill",
                remedy: "rfkill unblock bluetooth")
        case .noPermission(let operation):
            Explanation(
                "bluetooth.no-permission", .unavailable, "no permission to \(operation)",
                remedy: "the kernel's transport needs CAP_NET_ADMIN, and bluetoothd a policy that allows this user",
                meaning: "the system does not let the agent use Bluetooth")
        case .noLowEnergy(let adapter):
            Explanation(
                "bluetooth.no-low-energy", .unavailable, "Bluetooth adapter \(adapter) does not support Low Energy",
                remedy: "use an adapter of Bluetooth 4.0 or later")
        case .daemonMissing:
            Explanation(
                "bluetooth.daemon-missing", .unavailable, "bluetoothd does not answer on the system bus",
                remedy: "start bluetooth.service, or set the transport to \"kernel\"")
        case .disconnected:
            Explanation(
                "bluetooth.disconnected", .unreachable, "the Bluetooth connection has ended",
                remedy: Self.closer)
        case .timedOut(let operation):
            Explanation(
                "bluetooth.timed-out", .unreachable, "the other device did not answer in time: \(operation)",
                remedy: Self.closer)
        case .att(let code, let operation):
            Explanation(
                "bluetooth.refused", .refused, "the other device refuses to \(operation): \(code)",
                remedy: code.concernsSecurity ? "pair the devices" : nil)
        case .tooLong:
            Explanation("bluetooth.too-long", .tooLarge, "the value is longer than one packet of the connection")
        case .failed(let operation, let reason):
            Explanation(
                "bluetooth.failed", .unavailable, "cannot \(operation): \(reason)",
                meaning: "an operation of the adapter, the kernel or bluetoothd failed")
        case .stopped: Explanation("bluetooth.stopped", .temporary, "Bluetooth was stopped")
        }
    }

    private static let closer = "bring the devices closer together and try again"

    public static let examples: [BluetoothError] = [
        .noAdapter(name: "ADAPTER"), .blocked(adapter: "ADAPTER", hard: true),
        .blocked(adapter: "ADAPTER", hard: false),
        .noPermission(operation: "OPERATION"), .noLowEnergy(adapter: "ADAPTER"), .daemonMissing, .disconnected,
        .timedOut(operation: "OPERATION"), .att(.insufficientAuthentication, operation: "OPERATION"), .tooLong,
        .failed(operation: "OPERATION", reason: "REASON"), .stopped,
    ]
}
