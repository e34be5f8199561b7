import AgentCore
import FoundationEssentials

/// Warns when the device certificate should have been renewed; fails when it has expired.
package struct DeviceCertificateDates: HealthCheck {
    package static let name = "device-certificate-dates"

    package func run(_ agent: AgentState) -> Verdict {
        guard let end = agent.gateway.certificateEnd else { return .skip("no certificate yet") }
        let days = Int((end.timeIntervalSince(agent.now) / 86_400).rounded(.down))
        if end < agent.now {
            return .fail(
                "ended \(end.formatted(.iso8601))",
                remedy: "renew it with: latchkey renew; if the gateway refuses, enroll this board again")
        }
        guard days >= agent.gateway.renewDays else {
            return .warn(
                "\(days) days left; renewal is due and has not succeeded",
                remedy: "see the last error in: latchkey status")
        }
        return .pass("\(days) days left")
    }
}
