/// Whether bluetoothd scans for this program.
///
/// bluetoothd answers a call of `StartDiscovery` when the scan has begun, and until then it refuses to end it
/// (`org.bluez.Error.Busy`). Such a scan would continue although nothing needs it, and delay a connection that is made
/// meanwhile. So its end waits for that answer. Calls are numbered: the answer to an earlier one, as to one that a
/// former bluetoothd got, is about nothing any more.
struct DaemonScan {
    private enum State: Equatable {
        case none
        case beginning(call: Int)
        /// It is to end as soon as the call is answered.
        case unwanted(call: Int)
        case running
    }

    enum Start: Equatable {
        case isRunning
        /// bluetoothd has been asked for it and has not answered yet.
        case isAsked
        /// bluetoothd has to be asked for it, by the call with this number.
        case ask(call: Int)
    }

    private var state = State.none
    private var lastCall = 0

    /// A search needs it.
    mutating func want() -> Start {
        switch state {
        case .none: return .ask(call: renew())
        case .unwanted(let call):
            state = .beginning(call: call)
            return .isAsked
        case .beginning: return .isAsked
        case .running: return .isRunning
        }
    }

    /// bluetoothd is asked for it again.
    ///
    /// - Returns: the number of the call.
    mutating func renew() -> Int {
        lastCall += 1
        state = .beginning(call: lastCall)
        return lastCall
    }

    /// bluetoothd has answered a call.
    ///
    /// - Parameter isRunning: whether the scan runs now.
    /// - Returns: whether bluetoothd has to be asked to end it.
    mutating func answered(_ call: Int, isRunning: Bool) -> Bool {
        switch state {
        case .beginning(call):
            state = isRunning ? .running : .none
            return false
        case .unwanted(call):
            state = .none
            return isRunning
        default: return false
        }
    }

    /// No search needs it any more.
    ///
    /// - Returns: whether bluetoothd has to be asked to end it.
    mutating func end() -> Bool {
        switch state {
        case .running:
            state = .none
            return true
        case .beginning(let call):
            state = .unwanted(call: call)
            return false
        case .none, .unwanted: return false
        }
    }

    /// bluetoothd or its adapter is gone, and the scan with it.
    mutating func forget() { state = .none }
}
