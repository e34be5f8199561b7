import Groundwork

/// One thing that the agent depends on, checked on request. Each check has its own file.
package protocol HealthCheck: Sendable {
    /// Stable, for programs: lower case with hyphens.
    static var name: String { get }
    func run(_ agent: AgentState) -> Verdict
}

/// What a check found, and what to do.
package enum Verdict: Sendable, Equatable {
    case pass(String)
    case warn(String, remedy: String)
    case fail(String, remedy: String)
    /// Not checked, and why.
    case skip(String)

    package var word: String {
        switch self {
        case .pass: "pass"
        case .warn: "warn"
        case .fail: "fail"
        case .skip: "skip"
        }
    }

    package func json(named name: String) -> JSON {
        switch self {
        case .pass(let message), .skip(let message):
            ["name": .string(name), "verdict": .string(word), "message": .string(message)]
        case .warn(let message, let remedy), .fail(let message, let remedy):
            ["name": .string(name), "verdict": .string(word), "message": .string(message), "remedy": .string(remedy)]
        }
    }
}

extension Verdict {
    /// The report for programs: every verdict, and the worst of them.
    package static func report(_ verdicts: [(name: String, verdict: Verdict)]) -> JSON {
        let worst = ["fail", "warn"].first { word in verdicts.contains { $0.verdict.word == word } } ?? "pass"
        return ["worst": .string(worst), "checks": .array(verdicts.map { $0.verdict.json(named: $0.name) })]
    }
}

package enum Doctor {
    /// - Parameter checks: in the order in which a person would fix failures: an earlier one often causes the later
    ///   ones.
    package static func examine(_ agent: AgentState, by checks: [any HealthCheck]) -> JSON {
        Verdict.report(checks.map { check in (name: type(of: check).name, verdict: check.run(agent)) })
    }
}
