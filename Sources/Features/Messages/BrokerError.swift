import AgentCore
import Groundwork

/// An error of an account at a broker.
package enum BrokerError: Explained, Equatable {
    case unknown(String)
    /// The file of its password is missing, empty or too long.
    case passwordUnreadable(path: String, reason: String)
    /// A user ended the connection, and with it the subscriptions of all programs.
    case disconnected(String)
    /// It carries the board's messages, and so has to have a client identifier that stays.
    case clientIDMissing(String)
    /// The account is in the settings, and can be changed only there.
    case inSettings(String)
    /// What is stored of it cannot be used.
    case recordInvalid(String)
    /// The board's messages already go to the broker of another account.
    case boardHasBroker(AccountName)
    /// A token leaves this board for where the caller says.
    case tokenForOwnersOnly
    /// Everyone on the way could read the token.
    case tokenWithoutTLS

    package var explanation: Explanation {
        switch self {
        case .unknown(let name):
            Explanation(
                "broker.unknown", .notFound, "this board has no account \"\(name)\" at a broker",
                remedy: "list them: latchkey brokers; or make it: latchkey accounts add \(name) --broker URL")
        case .passwordUnreadable(let path, let reason):
            Explanation(
                "broker.password-unreadable", .configuration, "cannot use the password in \(path): \(reason)",
                remedy: "check password_file of this broker, and that the agent's user may read it")
        case .disconnected(let name):
            Explanation(
                "broker.disconnected-here", .temporary, "the connection to the broker \(name) was ended on this board",
                remedy: "subscribe again: that connects")
        case .clientIDMissing(let name):
            Explanation(
                "broker.client-id-missing", .configuration,
                "the broker \(name) carries the board's messages, and its settings have no client identifier",
                remedy: "set client_id of the broker \(name): one that no other board has")
        case .inSettings(let name):
            Explanation(
                "broker.in-settings", .conflict, "the account \(name) is in the settings",
                remedy: "remove its [[brokers]] from the settings, and restart the agent")
        case .recordInvalid(let name):
            Explanation(
                "broker.record-invalid", .unavailable, "what is stored of the account \(name) cannot be used",
                remedy: "remove the account and make it again: latchkey accounts remove \(name)")
        case .boardHasBroker(let account):
            Explanation(
                "broker.board-has-broker", .conflict,
                "the board's messages already go to the broker of the account \(account)",
                remedy: "leave out --for-messages; or name the account to use, and restart the agent: "
                    + "latchkey config set broker.account NAME")
        case .tokenForOwnersOnly:
            Explanation(
                "broker.token-for-owners", .permission,
                "only root and the agent's own user may have an account's token sent to a broker",
                remedy: "run it as root: sudo latchkey accounts add NAME --broker URL --token-of ACCOUNT")
        case .tokenWithoutTLS:
            Explanation(
                "broker.token-without-tls", .invalidInput,
                "an account's token is sent to a broker with TLS alone, or on this machine",
                remedy: "give an address with mqtts:// or wss://")
        }
    }

    package static var examples: [BrokerError] {
        [
            .unknown("NAME"), .passwordUnreadable(path: "PATH", reason: "REASON"), .disconnected("NAME"),
            .clientIDMissing("NAME"), .inSettings("NAME"), .recordInvalid("NAME"), .boardHasBroker(.gateway),
            .tokenForOwnersOnly, .tokenWithoutTLS,
        ]
    }
}
