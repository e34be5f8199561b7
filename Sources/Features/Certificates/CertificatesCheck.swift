import AgentCore
import FoundationEssentials
import Groundwork

/// What the doctor judges.
struct CertificatesFindings: Sendable {
    /// When each certificate ends, with its name.
    var ends: [(name: String, end: Date)] = []
    /// Why they cannot be read.
    var fault: Explanation?
}

/// Warns 14 days before a certificate ends that the board shows to servers; fails when one has ended.
struct CertificatesCheck: HealthCheck {
    static let name = "certificates"
    /// How long before its end a certificate is reported, in seconds.
    static let notice: TimeInterval = 14 * 86_400

    func run(_ agent: AgentState) -> Verdict {
        let findings = agent[CertificatesFindings.self, default: CertificatesFindings()]
        if let fault = findings.fault {
            return .fail(fault.message, remedy: fault.remedy ?? "see: latchkey vault verify")
        }
        guard let first = findings.ends.min(by: { $0.end < $1.end }) else {
            return .skip("no certificate but those of gateways")
        }
        guard first.end > agent.now else {
            return .fail("\(first.name) ended \(first.end.formatted(.iso8601))", remedy: Self.remedy(first.name))
        }
        let days = Int(first.end.timeIntervalSince(agent.now) / 86_400)
        guard first.end >= agent.now + Self.notice else {
            return .warn("\(first.name) ends in \(days) days", remedy: Self.remedy(first.name))
        }
        return .pass("\(days) days left, of \(first.name)")
    }

    private static func remedy(_ name: String) -> String {
        "get a new one, and import it; or remove this one: latchkey certificates remove \(name)"
    }
}
