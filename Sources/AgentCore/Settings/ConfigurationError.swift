import Groundwork
import Settings

/// Why the agent's configuration was not accepted.
package enum ConfigurationError: Explained, Equatable {
    /// The file does not exist, cannot be read, or is not text.
    case unreadable(path: String, reason: String)
    /// Every fault of the settings: of the file at this path, and of the drop-ins that they name.
    case faults(path: String, [SettingsFault])
    /// Settings that root acts on are in a file or a directory that others may change.
    case writableByOthers(path: String)
    /// A user or a group of `[api]`, `[[grants]]` or `[proxy]` does not exist on this machine.
    case unknownPeer(name: String)

    package var explanation: Explanation {
        switch self {
        case .unreadable(let path, let reason):
            Explanation(
                "configuration.unreadable", .configuration, "cannot read \(path): \(reason)",
                remedy: "check that the file is there and that the agent's user may read it")
        case .faults(let path, let faults):
            Explanation(
                "configuration.faults", .configuration,
                SettingsFault.list(faults, main: path),
                remedy: "fix them and check with: latchkey config check")
        case .writableByOthers(let path):
            Explanation(
                "configuration.writable-by-others", .configuration, "users other than root may write \(path)",
                remedy: "run: chown root: \(path); chmod go-w \(path)")
        case .unknownPeer(let name):
            Explanation(
                "configuration.unknown-peer", .configuration,
                "the settings name \(name), which does not exist on this machine",
                remedy: "write a user's name, or @ and a group's name, that getent(1) finds")
        }
    }

    package static let examples: [ConfigurationError] = [
        .unreadable(path: "PATH", reason: "REASON"),
        .faults(path: "PATH", [SettingsFault(keyPath: "KEY", fault: "FAULT", fix: "FIX")]), .unknownPeer(name: "NAME"),
        .writableByOthers(path: "PATH"),
    ]
}
