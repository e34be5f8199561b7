import AgentCore
import LocalAPI

/// Fails when the agent could not use its state directory: it is another user's, open to others, or locked by another
/// agent.
package struct StateDirectoryCheck: InstallationCheck {
    package static let name = "state-directory"

    package func run(_ installation: Installation) -> Verdict? {
        guard let path = installation.settings?.stateDirectory else { return nil }
        switch installation.stateDirectory {
        case .missing where installation.isOnReadOnlyDisk:
            return .fail(
                "\(path) does not exist, and cannot be made: its file system is read-only",
                remedy:
                    "mount a persistent, writable one there, such as a separate partition: it stores the registration, "
                    + "keys and messages")
        case .missing: return .pass("\(path) is made when the agent starts")
        case .hidden:
            return .warn("this user cannot inspect \(path)", remedy: "run it as root: sudo latchkey doctor")
        case .there(let owner, let mode):
            // Started by hand, the agent runs as the user who starts it.
            let user = installation.unit?.isInstalled == true ? installation.unit?.user ?? "" : ""
            if !user.isEmpty, UserName.shown(owner) != "user \(user)" {
                return .fail(
                    "\(path) belongs to \(UserName.shown(owner)), and latchkey.service runs as user \(user)",
                    remedy: "with the service stopped: chown -R \(user): \(path)")
            }
            guard mode & 0o077 == 0 else {
                return .fail(
                    "other users may read \(path) (mode \(String(mode, radix: 8)))", remedy: "run: chmod 700 \(path)")
            }
        }
        switch installation.lock {
        case .free: return .pass("no agent uses \(path)")
        case .hidden:
            return .warn(
                "this user cannot see whether an agent uses \(path)",
                remedy: "run it as root: sudo latchkey doctor")
        case .held(let process):
            guard installation.unit?.activity != "active" else { return .pass("\(path) is used by process \(process)") }
            return .fail(
                "process \(process) holds the lock of \(path)",
                remedy: "end it, or keep it: a second agent cannot start while it runs")
        }
    }
}
