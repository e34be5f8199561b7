import AgentCore

/// A check of the daemon's doctor that needs no daemon.
package struct SharedCheck<Check: HealthCheck>: InstallationCheck {
    package static var name: String { Check.name }
    private let check: Check

    package init(of check: Check) { self.check = check }

    package func run(_ installation: Installation) -> Verdict? { installation.state.map(check.run) }
}
