/// Whether bluetoothd scans for this program.
///
/// bluetoothd answers the call for a scan when the scan has begun, and until then it refuses to end it (`org.bluez.Error.Busy`).
/// Such a scan would go on though nobody wants it, and keep a connection waiting that is made meanwhile. So its end waits for
/// that answer.
struct DaemonScan {
    private enum State { case none, beginning, unwanted, running }

    private var state = State.none

    var isWanted: Bool { state == .beginning || state == .running }

    /// - Returns: whether bluetoothd has to be asked for it
    mutating func want() -> Bool {
        switch state {
        case .none:
            state = .beginning
            return true
        case .unwanted:
            state = .beginning
            return false
        case .beginning, .running: return false
        }
    }

    /// bluetoothd is asked for it anew.
    mutating func renew() { state = .beginning }

    /// bluetoothd has answered the call for it.
    ///
    /// - Returns: whether it has to be asked to end it
    mutating func answered() -> Bool {
        switch state {
        case .beginning:
            state = .running
            return false
        case .unwanted:
            state = .none
            return true
        case .none, .running: return false
        }
    }

    /// Nobody wants it any more.
    ///
    /// - Returns: whether bluetoothd has to be asked to end it
    mutating func end() -> Bool {
        switch state {
        case .running:
            state = .none
            return true
        case .beginning:
            state = .unwanted
            return false
        case .none, .unwanted: return false
        }
    }
}
