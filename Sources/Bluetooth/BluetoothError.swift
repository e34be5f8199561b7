import Groundwork

/// What can go wrong between this board and a device near it.
public enum BluetoothError: Explained, Equatable {
    /// - Parameter name: what was looked for; empty for any
    case noAdapter(name: String)
    /// By rfkill.
    case blocked(adapter: String, hard: Bool)
    case noPermission(operation: String)
    case noLowEnergy(adapter: String)
    case daemonMissing
    case disconnected
    case timedOut(operation: String)
    /// The other side refused a request.
    case att(ATTErrorCode, operation: String)
    /// More than one packet of the attribute protocol holds.
    case tooLong
    case failed(operation: String, reason: String)
    /// The service or the transport was stopped.
    case stopped

    public var code: String {
        switch self {
        case .noAdapter: "bluetooth.no-adapter"
        case .blocked: "bluetooth.blocked"
        case .noPermission: "bluetooth.no-permission"
        case .noLowEnergy: "bluetooth.no-low-energy"
        case .daemonMissing: "bluetooth.daemon-missing"
        case .disconnected: "bluetooth.disconnected"
        case .timedOut: "bluetooth.timed-out"
        case .att: "bluetooth.refused"
        case .tooLong: "bluetooth.too-long"
        case .failed: "bluetooth.failed"
        case .stopped: "bluetooth.stopped"
        }
    }

    public var message: String {
        switch self {
        case .noAdapter(""): "there is no Bluetooth adapter"
        case .noAdapter(let name): "there is no Bluetooth adapter \(name)"
        case .blocked(let adapter, true): "Bluetooth adapter \(adapter) is switched off by hardware"
        case .blocked(let adapter, false): "Bluetooth adapter \(adapter) is blocked by rfkill"
        case .noPermission(let operation): "no permission to \(operation)"
        case .noLowEnergy(let adapter): "Bluetooth adapter \(adapter) has no Low Energy"
        case .daemonMissing: "bluetoothd does not answer on the system bus"
        case .disconnected: "the Bluetooth connection has ended"
        case .timedOut(let operation): "the other device did not answer in time: \(operation)"
        case .att(let code, let operation): "the other device refuses to \(operation): \(code)"
        case .tooLong: "the value is longer than one packet of the connection"
        case .failed(let operation, let reason): "cannot \(operation): \(reason)"
        case .stopped: "Bluetooth was stopped"
        }
    }

    public var remedy: String? {
        switch self {
        case .noAdapter: "plug one in, or see `rfkill` and `dmesg` for the one that is missing"
        case .blocked(_, true): "turn the switch of the device on"
        case .blocked(_, false): "rfkill unblock bluetooth"
        case .noPermission: "the kernel's transport needs CAP_NET_ADMIN, and bluetoothd a policy that lets this user in"
        case .noLowEnergy: "use an adapter of Bluetooth 4.0 or later"
        case .daemonMissing: "start bluetooth.service, or set the transport to \"kernel\""
        case .disconnected, .timedOut: "bring the devices closer together and try again"
        case .att(let code, _) where code.concernsSecurity: "pair the devices"
        case .att, .tooLong, .failed, .stopped: nil
        }
    }
}
