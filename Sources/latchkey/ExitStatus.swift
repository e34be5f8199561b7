import Glibc
import Groundwork

/// What a script learns from the exit status (`sysexits.h`).
struct ExitStatus: RawRepresentable, Equatable {
    let rawValue: Int32

    static let failure = ExitStatus(rawValue: 1)
    static let usage = ExitStatus(rawValue: EX_USAGE)
    static let input = ExitStatus(rawValue: EX_DATAERR)
    static let unavailable = ExitStatus(rawValue: EX_UNAVAILABLE)
    static let temporary = ExitStatus(rawValue: EX_TEMPFAIL)
    static let refused = ExitStatus(rawValue: EX_PROTOCOL)
    static let noPermission = ExitStatus(rawValue: EX_NOPERM)
    static let configuration = ExitStatus(rawValue: EX_CONFIG)

    init(rawValue: Int32) { self.rawValue = rawValue }

    /// By the error's stable code, which is the same whether it was thrown here or came from the daemon.
    init(_ error: any Explained) {
        let room = error.code.prefix { $0 != "." }
        self = switch (room, error.code) {
        case (_, "local-api.access-denied"), (_, "agent.topic-reserved"): .noPermission
        case (_, "local-api.daemon-not-running"), (_, "local-api.no-answer"): .unavailable
        case (_, "local-api.stopping"), (_, "local-api.too-many-requests"), (_, "local-api.too-many-connections"),
            (_, "agent.subscription-ended"): .temporary
        case (_, "local-api.cannot-listen"), (_, "local-api.already-running"), (_, "agent.state-directory"): .configuration
        case (_, "agent.bad-request"): .usage
        // As `latchkey whoami` says it.
        case (_, "gateway.user-required"): .failure
        // What `sysexits.h` means by EX_CONFIG: unconfigured, and only a person can change that.
        case (_, "agent.not-enrolled"), (_, "gateway.not-registered"): .configuration
        // What was refused on this board: the gateway was never asked.
        case (_, "gateway.path-invalid"), (_, "gateway.host-not-configured"), (_, "gateway.enrollment-key-hash-invalid"),
            (_, "gateway.user-credentials-unusable"): .input
        case (_, "proximity.login-in-progress"), (_, "proximity.sharing-in-progress"), (_, "proximity.not-authorized-in-time"),
            (_, "proximity.no-peripheral-found"), (_, "proximity.timed-out"), (_, "proximity.interrupted"): .temporary
        case (_, "proximity.user-declined"), (_, "proximity.authorization-failed"): .refused
        case ("http", _), (_, "messaging.outbox-full"), (_, "messaging.outbox-share-full"), (_, "gateway.no-answer"), (_, "gateway.unexpected-answer"): .temporary
        case ("gateway", let code) where code.contains("configuration"): .configuration
        case ("gateway", let code) where code.contains("enrollment-url"): .input
        case ("gateway", _): .refused
        case ("configuration", _), ("board", _), ("vault", _): .configuration
        case ("local-api", _), ("usage", _): .usage
        case ("messaging", let code) where code.contains("invalid") || code.contains("payload"): .input
        case ("input", _), ("json", _): .input
        default: .failure
        }
    }
}
