public import Groundwork
import LocalAPI

/// One thing that keeps an agent from answering.
protocol InstallationCheck: Sendable {
    /// Stable, for programs: lower case with hyphens.
    static var name: String { get }
    /// `nil` where there is nothing to be seen, or it does not matter here.
    func run(_ installation: Installation) -> Verdict?
}

/// The doctor where no daemon answers: it looks at what a daemon would start with.
public enum InstallationDoctor {
    static let checks: [any InstallationCheck] = [
        DaemonCheck(), SettingsCheck(), CredentialCheck(), StateDirectoryCheck(),
    ]

    /// Looks at this machine.
    ///
    /// - Parameters:
    ///   - settingsPath: the settings that the daemon would read; `nil`: the file at its usual place.
    ///   - error: why the daemon could not be asked.
    /// - Returns: the report in the form of the daemon's own; `nil` when the error is another than that none answers.
    public static func examine(settingsPath: String?, after error: LocalAPIError) -> JSON? {
        switch error {
        case .daemonNotRunning(let path): examine(Installation(gathering: path, .silent, settingsPath: settingsPath))
        case .socketForbidden(let path): examine(Installation(gathering: path, .forbidden, settingsPath: settingsPath))
        default: nil
        }
    }

    static func examine(_ installation: Installation, by checks: [any InstallationCheck] = checks) -> JSON {
        let verdicts = checks.compactMap { check in
            check.run(installation).map { (name: type(of: check).name, verdict: $0) }
        }
        return Verdict.report(verdicts)
    }
}
