import AgentCore
import FoundationEssentials
import Groundwork
import Messaging

/// Fails when the outbox cannot be opened; warns of dead letters, and when messages wait for long or were dropped.
package struct OutboxCheck: HealthCheck {
    package static let name = "outbox"
    /// The shortest wait that counts as long, in seconds: an hour.
    package static let longWait: TimeInterval = 3600

    package func run(_ agent: AgentState) -> Verdict {
        if let fault = agent.messages.outboxFault {
            return .fail(fault.message, remedy: fault.remedy ?? "see: latchkey status")
        }
        guard let outbox = agent.messages.outbox else { return .skip("none before this board is registered") }
        guard outbox.deadLetters == 0 else {
            return .warn(
                "the broker ended the connection on \(outbox.deadLetters) "
                    + "\(outbox.deadLetters == 1 ? "message, which is" : "messages, which are") no longer sent",
                remedy: "see which, and why, with: latchkey dead-letters; then retry or remove them")
        }
        guard outbox.dropped == 0 else {
            return .warn(
                "\(outbox.dropped == 1 ? "1 message was" : "\(outbox.dropped) messages were") dropped, \(outbox.depth) waiting",
                remedy: "shorten the time without a broker, send less often, or raise outbox.limit_bytes")
        }
        if let age = outbox.oldestAge, age >= Self.longWait {
            return .warn(
                "\(outbox.depth) messages wait, the oldest for \(Int(age / 60)) minutes",
                remedy:
                    "fix the connection to the broker; nothing is lost before outbox.limit_bytes or outbox.max_age_hours"
            )
        }
        return .pass(
            outbox.depth == 1 ? "1 message waits, none was dropped" : "\(outbox.depth) messages wait, none was dropped")
    }
}
