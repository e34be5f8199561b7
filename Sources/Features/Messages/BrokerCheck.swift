import AgentCore
import Groundwork
import Messaging

/// Fails when the broker refuses the connection; warns when there is none at the moment, and while messages for inboxes
/// cannot be taken.
package struct BrokerCheck: HealthCheck {
    package static let name = "broker"
    /// The finding whether a person has stopped the account that the broker uses.
    package static let stopped = "broker-stopped"

    package func run(_ agent: AgentState) -> Verdict {
        guard let broker = agent.messages.broker else {
            return .skip("none before this board is registered, or has an account at a broker")
        }
        guard agent.found[Self.stopped]?.bool != true else { return .skip("the gateway connection is stopped") }
        if broker.isConnected {
            if let fault = broker.inboxFault {
                return .warn(
                    "connected to \(broker.address), where messages for inboxes wait: \(fault.message)",
                    remedy: fault.remedy ?? "make the disk writable")
            }
            if let error = broker.lastError {
                return .warn(
                    "connected to \(broker.address) again, but: \(error.message)",
                    remedy: error.remedy ?? "see whether it stays connected: latchkey status")
            }
            if let error = broker.preferredError {
                return .warn(
                    "connected to \(broker.address) (\(broker.way)), as the first broker is away: \(error.message)",
                    remedy: error.remedy ?? "check the first broker; the board goes back to it by itself")
            }
            guard let last = broker.lastReport else { return .pass("connected to \(broker.address) (\(broker.way))") }
            // Not a warning: a message from others, or from long ago, is not this board's trouble.
            let count = broker.reports == 1 ? "an error" : "\(broker.reports) errors"
            return .pass(
                "connected to \(broker.address) (\(broker.way)); it has reported \(count), the last: \(last.text)")
        }
        guard let error = broker.lastError else {
            return .warn("not connected to \(broker.address) yet", remedy: "wait a moment and ask again")
        }
        let text = "not connected to \(broker.address): \(error.message)"
        return .fail(text, remedy: error.remedy ?? "check the broker's log and that nothing blocks its port")
    }
}
