public import Groundwork

/// Why the agent as a whole cannot do what was asked.
public enum AgentError: Explained, Equatable {
    /// No gateway is active yet.
    case notEnrolled
    /// Enrolled, but not registered at the gateway, or not yet.
    case notRegistered
    /// The state directory cannot be used.
    case stateDirectory(path: String, reason: String)
    /// The settings name a systemd credential, but systemd handed none over.
    case credentialsMissing(name: String)
    /// The file of the passphrase is missing, empty, too long, or open to others.
    case passphraseUnreadable(path: String, reason: String)
    /// A request of the local API lacks a member or holds a wrong one.
    case badRequest(member: String, fault: String)
    /// Telemetry or presence of the board, which only the agent itself publishes.
    case topicReserved(String)
    /// A stream of messages belonged to a registration that is no longer the board's.
    case subscriptionEnded
    /// The gateway's configuration names no Bluetooth service.
    case noProximityService
    /// The gateway offers no log-in in a browser.
    case browserNotOffered
    /// What a browser was led to is no answer to a log-in.
    case browserAnswerInvalid(reason: String)
    /// No log-in in a browser of that number waits for its answer.
    case noSuchLogIn(String)
    /// The board has no such part.
    case noSuchPart(String)

    public var code: String {
        switch self {
        case .notEnrolled: "agent.not-enrolled"
        case .notRegistered: "agent.not-registered"
        case .stateDirectory: "agent.state-directory"
        case .credentialsMissing: "vault.credentials-missing"
        case .passphraseUnreadable: "vault.passphrase-unreadable"
        case .badRequest: "agent.bad-request"
        case .topicReserved: "agent.topic-reserved"
        case .subscriptionEnded: "agent.subscription-ended"
        case .noProximityService: "agent.no-proximity-service"
        case .browserNotOffered: "agent.browser-not-offered"
        case .browserAnswerInvalid: "agent.browser-answer-invalid"
        case .noSuchLogIn: "agent.no-such-log-in"
        case .noSuchPart: "agent.no-such-part"
        }
    }

    public var message: String {
        switch self {
        case .notEnrolled: "this board is not enrolled at a gateway"
        case .notRegistered: "this board is not registered at its gateway"
        case .stateDirectory(let path, let reason): "cannot use the state directory \(path): \(reason)"
        case .credentialsMissing(let name): "systemd handed over no credential \(name)"
        case .passphraseUnreadable(let path, let reason): "cannot take the passphrase in \(path): \(reason)"
        case .badRequest(let member, let fault): "\(member) \(fault)"
        case .topicReserved(let topic): "the agent itself publishes to \(topic)"
        case .subscriptionEnded: "the registration whose messages were read has gone, or the gateway was switched"
        case .noProximityService: "the gateway's configuration names no Bluetooth service for proximity log-in"
        case .browserNotOffered: "the gateway offers no log-in in a browser"
        case .browserAnswerInvalid(let reason): "cannot log in with that address: \(reason)"
        case .noSuchLogIn(let id): "no log-in \(id) in a browser is under way"
        case .noSuchPart(let part): "this board has no \(part)"
        }
    }

    public var remedy: String? {
        switch self {
        case .notEnrolled: "enroll it with: latchkey enroll <url>"
        case .notRegistered: "latchkey status says why; latchkey enroll registers it"
        case .stateDirectory: "make it with mode 0700 for the agent's user, or name another in agent.state_directory"
        case .credentialsMissing:
            "run the agent as latchkey.service, with LoadCredentialEncrypted=; "
                + "for development set vault.slot to development-key-file"
        case .passphraseUnreadable: "check vault.passphrase_file, that the agent's user may read it, and that nobody else may"
        case .badRequest: "GET /v1/openapi.json describes each request"
        case .topicReserved: "publish to another topic; root and the agent's own user may use this one"
        case .subscriptionEnded: "subscribe again; latchkey status shows the registration there is now"
        case .noProximityService:
            "have the gateway's administrator set mag.ble in the configuration, and enroll again; a QR code works without"
        case .browserNotOffered: "log in by password, or with a device nearby"
        case .browserAnswerInvalid, .noSuchLogIn: "begin again with: latchkey login --browser"
        case .noSuchPart: "name it in the board definition, see: latchkey board list"
        }
    }
}
