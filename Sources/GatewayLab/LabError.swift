import Groundwork

/// Why a lab does not start or cannot do what was asked.
public enum LabError: Explained, Equatable {
    case cannotListen(address: String, port: Int, reason: String)
    case cannotKeep(path: String, reason: String)
    /// The state file is not one of ours; it is left as it is.
    case stateUnreadable(path: String, reason: String)
    case brokerMissing
    case brokerPluginMissing(path: String)
    case brokerFailed(reason: String)
    case cryptography(operation: String, reason: String)
    case noSuch(thing: String, name: String)
    case badPrefix(String)

    public var code: String {
        switch self {
        case .cannotListen: "lab.cannot-listen"
        case .cannotKeep: "lab.cannot-keep"
        case .stateUnreadable: "lab.state-unreadable"
        case .brokerMissing: "lab.broker-missing"
        case .brokerPluginMissing: "lab.broker-plugin-missing"
        case .brokerFailed: "lab.broker-failed"
        case .cryptography: "lab.cryptography"
        case .noSuch: "lab.no-such-thing"
        case .badPrefix: "lab.bad-prefix"
        }
    }

    public var message: String {
        switch self {
        case .cannotListen(let address, let port, let reason): "cannot listen on \(address) port \(port): \(reason)"
        case .cannotKeep(let path, let reason): "cannot write \(path): \(reason)"
        case .stateUnreadable(let path, let reason): "cannot read the lab's state in \(path): \(reason)"
        case .brokerMissing: "cannot start the broker: there is no mosquitto program"
        case .brokerPluginMissing(let path): "cannot start the broker: its plugin \(path) is missing"
        case .brokerFailed(let reason): "the broker is not running: \(reason)"
        case .cryptography(let operation, let reason): "cannot \(operation): \(reason)"
        case .noSuch(let thing, let name): "the lab has no \(thing) \(name)"
        case .badPrefix(let prefix): "the prefix \(prefix) is not a bare word of letters, digits, '-' and '_'"
        }
    }

    public var remedy: String? {
        switch self {
        case .cannotListen:
            "stop that program, or choose another port with --port, --admin-port or --broker-port (0 is any)"
        case .cannotKeep: "check owner and free space of the directory"
        case .stateUnreadable: "move the file away to start with an empty lab"
        case .brokerMissing: "apt-get install mosquitto"
        case .brokerPluginMissing:
            "swift build --product latchkey-lab-broker puts it beside the program; --broker-plugin names another file"
        case .brokerFailed, .cryptography, .noSuch: nil
        case .badPrefix: "use a word such as lab"
        }
    }
}
