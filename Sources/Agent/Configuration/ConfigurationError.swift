public import Groundwork
public import Settings

/// Why the agent's configuration could not be taken.
public enum ConfigurationError: Explained, Equatable {
    /// There is no such file, or it cannot be read, or it is no text.
    case unreadable(path: String, reason: String)
    /// Every fault of the file, in its order.
    case faults(path: String, [SettingsFault])
    /// A user or a group of `[api]` that this machine does not know.
    case unknownPeer(name: String)

    public var code: String {
        switch self {
        case .unreadable: "configuration.unreadable"
        case .faults: "configuration.faults"
        case .unknownPeer: "configuration.unknown-peer"
        }
    }

    public var message: String {
        switch self {
        case .unreadable(let path, let reason): "cannot read \(path): \(reason)"
        case .faults(let path, let faults): "\(path): " + faults.map(\.description).joined(separator: "; ")
        case .unknownPeer(let name): "[api] names \(name), which this machine does not know"
        }
    }

    public var remedy: String? {
        switch self {
        case .unreadable: "check that the file is there and that the agent's user may read it"
        case .faults: "mend them and check with: latchkey config check"
        case .unknownPeer: "write a user's name, or @ and a group's name, that getent(1) finds"
        }
    }
}
