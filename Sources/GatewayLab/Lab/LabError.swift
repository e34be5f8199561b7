import Groundwork

/// Why a lab cannot start or cannot perform an action.
public enum LabError: Explained, Equatable {
    case cannotListen(address: String, port: Int, reason: String)
    case cannotKeep(path: String, reason: String)
    /// The state file is not one of ours; it is left unchanged.
    case stateUnreadable(path: String, reason: String)
    case brokerMissing
    case brokerPluginMissing(path: String)
    case brokerFailed(reason: String)
    case cryptography(operation: String, reason: String)
    case noSuch(thing: String, name: String)
    case badPrefix(String)

    public var explanation: Explanation {
        switch self {
        case .cannotListen(let address, let port, let reason):
            Explanation(
                "lab.cannot-listen", .notRunning, "cannot listen on \(address) port \(port): \(reason)",
                remedy: "stop that program, or choose another port with --port, --admin-port or --broker-port "
                    + "(0 means any)")
        case .cannotKeep(let path, let reason):
            Explanation(
                "lab.cannot-keep", .configuration, "cannot write \(path): \(reason)",
                remedy: "check the owner and free space of the directory")
        case .stateUnreadable(let path, let reason):
            Explanation(
                "lab.state-unreadable", .configuration, "cannot read the lab's state in \(path): \(reason)",
                remedy: "move the file away to start with an empty lab")
        case .brokerMissing:
            Explanation(
                "lab.broker-missing", .configuration, "cannot start the broker: the mosquitto program is missing",
                remedy: "apt-get install mosquitto")
        case .brokerPluginMissing(let path):
            Explanation(
                "lab.broker-plugin-missing", .configuration,
                "cannot start the broker: its plugin \(path) is missing",
                remedy: "swift build --product latchkey-lab-broker puts it beside the program; "
                    + "--broker-plugin names another file")
        case .brokerFailed(let reason):
            Explanation("lab.broker-failed", .notRunning, "the broker is not running: \(reason)")
        case .cryptography(let operation, let reason):
            Explanation("lab.cryptography", .internal, "cannot \(operation): \(reason)")
        case .noSuch(let thing, let name):
            Explanation("lab.no-such-thing", .invalidInput, "the lab has no \(thing) \(name)")
        case .badPrefix(let prefix):
            Explanation(
                "lab.bad-prefix", .misuse,
                "the prefix \(prefix) is not a bare word of letters, digits, '-' and '_'",
                remedy: "use a word such as lab")
        }
    }

    public static let examples: [LabError] = [
        .cannotListen(address: "ADDRESS", port: 8443, reason: "REASON"), .cannotKeep(path: "PATH", reason: "REASON"),
        .stateUnreadable(path: "PATH", reason: "REASON"), .brokerMissing, .brokerPluginMissing(path: "PATH"),
        .brokerFailed(reason: "REASON"), .cryptography(operation: "OPERATION", reason: "REASON"),
        .noSuch(thing: "THING", name: "NAME"), .badPrefix("PREFIX"),
    ]
}
