import FoundationEssentials

/// Fails when the clock is earlier than what is known to have happened.
package struct ClockCheck: HealthCheck {
    package static let name = "clock"

    package init() {}

    package func run(_ agent: AgentState) -> Verdict {
        guard agent.clockIsPlausible else {
            return .fail(
                "the clock is wrong: the actual time is at least \(agent.now.formatted(.iso8601))",
                remedy:
                    "start a time service (systemd-timesyncd, chrony) and let it reach a server, or fit a battery clock; "
                    + "if the clock is right now and was ahead before, remove \(agent.clockFile) and restart the agent")
        }
        return .pass("plausible, \(agent.now.formatted(.iso8601))")
    }
}
