import AgentCore
import Groundwork

/// An error of a broker that the settings name.
package enum BrokerError: Explained, Equatable {
    case unknown(String)
    /// The file of its password is missing, empty or too long.
    case passwordUnreadable(path: String, reason: String)
    /// A user ended the connection, and with it the subscriptions of all programs.
    case disconnected(String)

    package var explanation: Explanation {
        switch self {
        case .unknown(let name):
            Explanation(
                "broker.unknown", .notFound, "the settings name no broker \"\(name)\"",
                remedy: "list the brokers that they name: latchkey brokers")
        case .passwordUnreadable(let path, let reason):
            Explanation(
                "broker.password-unreadable", .configuration, "cannot use the password in \(path): \(reason)",
                remedy: "check password_file of this broker, and that the agent's user may read it")
        case .disconnected(let name):
            Explanation(
                "broker.disconnected-here", .temporary, "the connection to the broker \(name) was ended on this board",
                remedy: "subscribe again: that connects")
        }
    }

    package static var examples: [BrokerError] {
        [.unknown("NAME"), .passwordUnreadable(path: "PATH", reason: "REASON"), .disconnected("NAME")]
    }
}
