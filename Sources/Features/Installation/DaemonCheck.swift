import AgentCore
import LocalAPI

/// Always fails, because no daemon answers; the reason comes from systemd, or from the socket and its permissions.
package struct DaemonCheck: InstallationCheck {
    package static let name = "daemon"

    package func run(_ installation: Installation) -> Verdict? {
        guard installation.socket != .forbidden else {
            return .fail(
                "\(UserName.shown(installation.user)) may not connect to \(installation.socketPath)",
                remedy: "use sudo, or add the user to the socket's group (usermod -aG latchkey NAME) and log in again")
        }
        if case .mute(let reason) = installation.socket {
            return .fail(
                "the agent at \(installation.socketPath) did not answer: \(reason)",
                remedy: "see its log: journalctl -u latchkey -n 20; if it hangs: systemctl restart latchkey")
        }
        let stale = installation.hasSocketFile ? ", left by an agent that was killed" : ""
        let noListener = "nothing is listening on \(installation.socketPath)\(stale)"
        if case .held(let process) = installation.lock, installation.unit?.activity != "active" {
            return .fail(
                "\(noListener), but process \(process) is an agent with the same state directory",
                remedy: "name its socket with --socket or LATCHKEY_SOCKET, or end it")
        }
        guard let unit = installation.unit else {
            return .fail(
                "\(noListener), and systemd, which would start the agent, is not running here",
                remedy: "start it by hand: latchkey run --config FILE; name its socket with --socket or LATCHKEY_SOCKET"
            )
        }
        guard unit.isInstalled else {
            return .fail(
                "\(noListener), and latchkey.service is not installed",
                remedy:
                    "install it with deploy/install; or, for a daemon started by hand, name its socket with --socket or LATCHKEY_SOCKET"
            )
        }
        switch unit.activity {
        case "active":
            return .fail(
                "latchkey.service is active, but \(noListener)",
                remedy: "name its socket, api.socket of its settings, with --socket or LATCHKEY_SOCKET")
        case "inactive" where unit.result == "success":
            return .fail(
                "\(noListener): latchkey.service was not started",
                remedy: unit.isEnabled
                    ? "start it: systemctl start latchkey"
                    : "start it, now and at boot: systemctl enable --now latchkey")
        default:
            return .fail(
                "\(noListener): latchkey.service is \(unit.activity), its last run ended with \(Self.end(of: unit))",
                remedy: Self.remedy(after: unit))
        }
    }

    private static func end(of unit: Installation.Unit) -> String {
        unit.exitStatus == 0 ? unit.result : "\(unit.result), status \(unit.exitStatus)"
    }

    /// `EX_CONFIG` of sysexits.h: a fault in a configuration; systemd.exec(5): no credential.
    private static func remedy(after unit: Installation.Unit) -> String {
        switch unit.exitStatus {
        case 78: "fix what fails below; see the agent's log: journalctl -u latchkey -n 20"
        case 243: "systemd could not hand over the credential: see below, and journalctl -u latchkey -n 20"
        default: "see its log: journalctl -u latchkey -n 20"
        }
    }
}
