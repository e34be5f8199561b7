import AgentCore
import Groundwork
import LocalAPI

/// One possible reason why an agent does not respond.
package protocol InstallationCheck: Sendable {
    /// Stable, for programs: lower case with hyphens.
    static var name: String { get }
    /// `nil` if it cannot be seen or does not matter here.
    func run(_ installation: Installation) -> Verdict?
}

/// The doctor when no daemon answers: it examines what a daemon would start with.
package enum InstallationDoctor {
    package static let checks: [any InstallationCheck] = [
        DaemonCheck(), LibrariesCheck(), SettingsCheck(), CredentialCheck(), CredentialBindingCheck(),
        StateDirectoryCheck(),
        SharedCheck(of: StorageCheck()), SharedCheck(of: ClockCheck()), StoreCheck(), BoardDefinitionCheck(),
        HostsCheck(),
    ]

    /// Examines this machine.
    ///
    /// - Parameters:
    ///   - socketPath: where the daemon was asked.
    ///   - settingsPath: the settings that the daemon would read; `nil`: the file at its usual place.
    ///   - features: of the program, which read them.
    ///   - error: why the daemon could not be asked.
    /// - Returns: the report in the form of the daemon's own; `nil` if the error does not mean that no daemon answers.
    package static func examine(
        socketPath: String, settingsPath: String?, of features: [any Feature.Type], after error: LocalAPIError
    ) -> JSON? {
        switch error {
        case .daemonNotRunning(let path):
            examine(Installation(gathering: path, .silent, settingsPath: settingsPath, of: features))
        case .socketForbidden(let path):
            examine(Installation(gathering: path, .forbidden, settingsPath: settingsPath, of: features))
        case .noAnswer(let reason):
            examine(Installation(gathering: socketPath, .mute(reason), settingsPath: settingsPath, of: features))
        default: nil
        }
    }

    /// Adds what an agent that answers cannot see itself, and this user, if it is root, can.
    ///
    /// - Parameters:
    ///   - report: the daemon's.
    ///   - settingsPath: the settings that the daemon reads; `nil`: the file at its usual place.
    ///   - features: of the program, which read them.
    package static func completed(
        _ report: JSON, settingsPath: String?, of features: [any Feature.Type]
    ) -> JSON {
        completed(report, by: Installation(gatheringCredentialOf: settingsPath, features))
    }

    package static func completed(_ report: JSON, by installation: Installation) -> JSON {
        guard var members = report.object, let checks = report["checks"]?.array,
            let verdict = CredentialBindingCheck().run(installation)
        else { return report }
        members["checks"] = .array(checks + [verdict.json(named: CredentialBindingCheck.name)])
        if report["worst"] == "pass" { members["worst"] = .string(verdict.word) }
        return .object(members)
    }

    package static func examine(_ installation: Installation, by checks: [any InstallationCheck] = checks) -> JSON {
        let verdicts = checks.compactMap { check in
            check.run(installation).map { (name: type(of: check).name, verdict: $0) }
        }
        return Verdict.report(verdicts)
    }
}
