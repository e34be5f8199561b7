import AgentCore

/// A check of the daemon's doctor that needs no daemon.
struct SharedCheck<Check: HealthCheck>: InstallationCheck {
    static var name: String { Check.name }
    private let check: Check

    init(of check: Check) { self.check = check }

    func run(_ installation: Installation) -> Verdict? { installation.state.map(check.run) }
}
