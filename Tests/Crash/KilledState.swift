import GatewayLab
import TestSupport
import Testing

/// A state that the agent can be killed in, how it comes there, and what must be true after the next start.
struct KilledState: Sendable, CustomTestStringConvertible {
    /// What the board does when it is killed.
    enum Act: String, Sendable {
        case start, enroll, renew, refresh, switchGateway, addAccount, removeAccount, publish, deliver, hold, spill

        /// `spill_milliseconds` of a board that does this. Long where the broker's answer must come first, however busy
        /// the machine.
        var spill: Int {
            switch self {
            case .publish, .deliver: 0
            case .hold: 10_000
            default: 250
            }
        }
    }

    /// The kill point, with `:N` for the Nth time.
    let name: String
    let act: Act
    /// What must be true then, in words.
    let meaning: String
    /// Whether the board has taken the configuration, so that it goes on by itself.
    var isEnrolled = true
    /// How often the gateway must have been asked when all is well again.
    var requests: [Endpoint: Int] = [:]

    init(_ name: String, _ act: Act, _ meaning: String, isEnrolled: Bool = true, requests: [Endpoint: Int] = [:]) {
        (self.name, self.act, self.meaning, self.isEnrolled, self.requests) = (name, act, meaning, isEnrolled, requests)
    }

    var testDescription: String { "\(name): \(meaning)" }
    /// The call site, without the number.
    var point: String { String(name.prefix { $0 != ":" }) }

    static let all =
        firstStart + enrollment + registration + tokens + renewal + switching + accounts + messages

    private static let firstStart = [
        KilledState("key-file-drafted", .start, "no key file by halves; the next start makes one", isEnrolled: false),
        KilledState("creation-drafted", .start, "no vault by halves; the next start makes one", isEnrolled: false),
    ]

    private static let enrollment = [
        KilledState(
            "enrollment-answered", .enroll, "the URL is used up and refused; a new one enrolls", isEnrolled: false),
        KilledState("switch-begun", .enroll, "as if the answer had not come", isEnrolled: false),
        KilledState("vault-commit-inside", .enroll, "nothing of the first commit is there", isEnrolled: false),
        KilledState("vault-commit-written", .enroll, "nothing of the first commit is there", isEnrolled: false),
        KilledState(
            "vault-commit-committed", .enroll, "the configuration is active; the board registers by itself",
            requests: [.clientRegistration: 1]),
        KilledState("switch-committed", .enroll, "the board registers by itself", requests: [.clientRegistration: 1]),
        KilledState(
            "switch-disconnected", .enroll, "the board registers by itself", requests: [.clientRegistration: 1]),
    ]

    private static let registration = [
        KilledState(
            "identifier-committed", .enroll, "the identifier is kept",
            requests: [.clientInitialization: 1, .clientRegistration: 1]),
        KilledState("initialization-begun", .enroll, "initialized once", requests: [.clientInitialization: 1]),
        KilledState(
            "initialization-answered", .enroll, "initialized again, under the same identifier",
            requests: [.clientInitialization: 2, .clientRegistration: 1]),
        KilledState("initialization-committed", .enroll, "initialized once", requests: [.clientInitialization: 1]),
        KilledState("registration-begun", .enroll, "registered once", requests: [.clientRegistration: 1]),
        KilledState(
            "registration-answered", .enroll, "registered again with the same identifier and key: one device",
            requests: [.clientRegistration: 2]),
        KilledState(
            "vault-commit-written:7", .enroll, "the registration's own commit: as before it",
            requests: [.clientRegistration: 2]),
        KilledState("vault-commit-committed:7", .enroll, "registered once", requests: [.clientRegistration: 1]),
        KilledState(
            "vault-commit-committed:2", .enroll, "a key that nobody refers to yet is made anew",
            requests: [.clientInitialization: 1, .clientRegistration: 1]),
        KilledState(
            "vault-commit-committed:5", .enroll, "a key that nobody refers to yet is made anew",
            requests: [.clientInitialization: 1, .clientRegistration: 1]),
        KilledState("registration-committed", .enroll, "registered once", requests: [.clientRegistration: 1]),
    ]

    private static let tokens = [
        KilledState("token-begun", .refresh, "refreshed once", requests: [.token: 1]),
        KilledState(
            "token-answered", .refresh, "the refresh token is spent and refused; another grant gives a token",
            requests: [.clientRegistration: 0]),
        KilledState("token-committed", .refresh, "refreshed once", requests: [.token: 1]),
    ]

    /// What is counted is what the board asks by itself; a person then has it renewed once more.
    private static let renewal = [
        KilledState("renewal-begun", .renew, "the old certificate works", requests: [.renewal: 0]),
        KilledState("renewal-answered", .renew, "the old certificate works", requests: [.renewal: 1]),
        KilledState("renewal-kept", .renew, "what was kept proves itself and is in use", requests: [.renewal: 1]),
        KilledState("renewal-proven", .renew, "proves itself once more and is in use", requests: [.renewal: 1]),
        KilledState("renewal-committed", .renew, "the new certificate is in use", requests: [.renewal: 1]),
    ]

    private static let switching = [
        KilledState("switch-begun", .switchGateway, "still at the first gateway", isEnrolled: false),
        KilledState(
            "switch-committed", .switchGateway, "at the second; the first is kept", requests: [.clientRegistration: 1]),
        KilledState(
            "switch-disconnected:2", .switchGateway, "at the second; the first is kept",
            requests: [.clientRegistration: 1]),
    ]

    private static let accounts = [
        KilledState("switch-begun", .addAccount, "the first account alone", isEnrolled: false),
        KilledState(
            "switch-committed", .addAccount, "both; the second registers by itself",
            requests: [.clientRegistration: 1]),
        KilledState(
            "switch-disconnected:2", .addAccount, "both; the second registers by itself",
            requests: [.clientRegistration: 1]),
        KilledState(
            "registration-answered", .addAccount, "both; the second registers again with the same identifier and key",
            requests: [.clientRegistration: 2]),
        KilledState("registration-committed", .addAccount, "both, registered", requests: [.clientRegistration: 1]),
        KilledState("account-removal-begun", .removeAccount, "the second is still there"),
        KilledState("account-removal-committed", .removeAccount, "the second is gone", isEnrolled: false),
    ]

    /// Written at once, or held in memory while the broker answers, or written because it does not.
    private static let messages = [
        KilledState("outbox-held", .hold, "not accepted, and not there"),
        KilledState("outbox-acknowledge-told", .hold, "the broker has it, though nobody was told: sent once"),
        KilledState("outbox-spill-written", .spill, "not accepted, though it may have been sent"),
        KilledState("outbox-spill-committed", .spill, "there, though nobody was told: sent, maybe again"),
        KilledState("outbox-append-written", .publish, "not accepted, and not there"),
        KilledState("outbox-group-written", .publish, "there, though nobody was told: sent once"),
        KilledState("outbox-append-committed", .publish, "there, though nobody was told: sent once"),
        KilledState("outbox-room-written", .deliver, "none lost, and not sent again"),
        KilledState("outbox-acknowledge-told", .deliver, "sent again, none lost"),
        KilledState("outbox-acknowledge-written", .deliver, "sent again, none lost"),
        KilledState("outbox-acknowledge-committed", .deliver, "none lost, and not sent again"),
    ]
}
