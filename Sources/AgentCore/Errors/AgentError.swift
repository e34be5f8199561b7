import Groundwork
import LocalAPI

/// Why the agent as a whole cannot do what was asked.
package enum AgentError: Explained, Equatable {
    /// No gateway is active yet.
    case notEnrolled
    /// The state directory cannot be used.
    case stateDirectory(path: String, reason: String)
    /// Another agent holds the lock of the state directory.
    case stateDirectoryInUse(path: String)
    /// The state directory belongs to a user other than the one that the agent runs as; both by number.
    case stateDirectoryOfOther(path: String, owner: UInt32, user: UInt32)
    /// The file of the passphrase is missing, empty, too long, or open to others.
    case passphraseUnreadable(path: String, reason: String)
    /// A request of the local API lacks a member or holds a wrong one.
    case badRequest(member: String, fault: String)
    /// The topic is for telemetry or presence of the board, which only the agent itself publishes.
    case topicReserved(String)
    /// A stream of messages belonged to a registration that is no longer the board's.
    case subscriptionEnded
    /// The gateway's configuration names no Bluetooth service.
    case noProximityService
    /// The gateway offers no browser login.
    case browserNotOffered
    /// The gateway does not offer this provider, or several and none that is its own.
    case providerNotOffered(offered: [String])
    /// Another program has ended the login.
    case logInStopped
    /// The gateway has not said anything about the user yet, or too much to be kept.
    case noProfile
    /// The settings forbid the gateway's own login page.
    case pageNotEnabled
    /// The URL at which a browser ended is not the answer to a login.
    case browserAnswerInvalid(reason: String)
    /// No browser login with that number awaits its answer.
    case noSuchLogin(String)
    /// The vault was opened by this slot, and the settings name its key.
    case slotInUse(Int64)
    /// The settings do not allow an export, or one with the board's identity.
    case exportNotAllowed(withIdentity: Bool)
    /// An export is being made or restored.
    case exportInProgress
    /// The board has no such part.
    case noSuchPart(String)
    /// The settings have no such action.
    case noSuchAction(String)
    /// There is a key to sign with by that name.
    case signingKeyExists(String)
    /// There are as many keys to sign with as there may be.
    case tooManySigningKeys(limit: Int)
    /// The called API's answer is a success, and not of the type that the caller demands.
    case answerTypeUnexpected(expected: String, found: String?, status: Int)

    package var explanation: Explanation {
        switch self {
        case .notEnrolled:
            Explanation(
                "agent.not-enrolled", .unconfigured, "this board is not enrolled at a gateway",
                remedy: "enroll it: latchkey enroll - < url.txt", gateway: .local(100_004))
        case .stateDirectory(let path, let reason):
            Explanation(
                "agent.state-directory", .configuration, "cannot use the state directory \(path): \(reason)",
                remedy: "make it with mode 0700 for the agent's user, or name another in agent.state_directory")
        case .stateDirectoryInUse(let path):
            Explanation(
                "agent.state-directory", .configuration,
                "cannot use the state directory \(path): another agent is using it",
                remedy: "another agent is running here: stop it (systemctl stop latchkey), or name another directory "
                    + "in agent.state_directory")
        case .stateDirectoryOfOther(let path, let owner, let user):
            Explanation(
                "agent.state-directory", .configuration,
                "cannot use the state directory \(path): it belongs to \(UserName.shown(owner)), "
                    + "and this agent runs as \(UserName.shown(user))",
                remedy: "if the agent is installed: systemctl start latchkey; otherwise run it as "
                    + "\(UserName.shown(owner)), or with settings that name another directory than \(path) "
                    + "in agent.state_directory")
        case .passphraseUnreadable(let path, let reason):
            Explanation(
                "vault.passphrase-unreadable", .configuration,
                "cannot use the passphrase in \(path): \(reason)",
                remedy: "check vault.passphrase_file: the agent's user must be able to read it, and no other user")
        case .badRequest(let member, let fault):
            Explanation(
                "agent.bad-request", .misuse, "\(member) \(fault)",
                remedy: "see the command's --help; for programs, GET /v1/openapi.json describes each request",
                meaning: "a request to the local API lacks a member or contains a wrong one")
        case .topicReserved(let topic):
            Explanation(
                "agent.topic-reserved", .permission, "the agent itself publishes to \(topic)",
                remedy: "publish to another topic; only root and the agent's own user may use this one")
        case .subscriptionEnded:
            Explanation(
                "agent.subscription-ended", .temporary,
                "the registration whose messages were read no longer exists, or the gateway was switched",
                remedy: "subscribe again; latchkey status shows the current registration")
        case .noProximityService:
            Explanation(
                "agent.no-proximity-service", .conflict,
                "the gateway's configuration names no Bluetooth service for proximity login",
                remedy: "have the gateway's administrator set mag.ble in the configuration, and enroll again; "
                    + "a QR code works without it")
        case .browserNotOffered:
            Explanation(
                "agent.browser-not-offered", .conflict, "the gateway does not offer login in a browser",
                remedy: "log in by password, or with a device nearby")
        case .providerNotOffered(let offered):
            Explanation(
                "agent.provider-not-offered", .conflict,
                "the gateway offers login by \(offered.joined(separator: ", "))",
                remedy: "choose one of them: latchkey login --provider NAME")
        case .logInStopped:
            Explanation(
                "agent.log-in-stopped", .denied, "another program ended the login", gateway: .local(130_005))
        case .noProfile:
            Explanation(
                "agent.no-profile", .notFound, "no information from the gateway about the user is stored here",
                remedy: "ask the gateway: latchkey whoami --info")
        case .pageNotEnabled:
            Explanation(
                "agent.page-not-enabled", .configuration, "login by the gateway's own page is switched off",
                remedy: "set login.page in the settings, or log in by one of the providers",
                gateway: .local(180_000))
        case .browserAnswerInvalid(let reason):
            Explanation(
                "agent.browser-answer-invalid", .invalidInput, "cannot log in with that address: \(reason)",
                remedy: Self.logInAgain, browserAnswer: .unusable)
        case .noSuchLogin(let id):
            Explanation(
                "agent.no-such-log-in", .notFound, "no login \(id) in a browser is in progress",
                remedy: Self.logInAgain)
        case .slotInUse(let id):
            Explanation(
                "agent.slot-in-use", .conflict,
                "slot \(id) opened the vault, and the settings name its key",
                remedy: "have the agent open the vault with another slot first, or replace this slot's key with: "
                    + "latchkey vault rewrap")
        case .exportNotAllowed(let withIdentity):
            Explanation(
                "vault.export-not-allowed", .configuration,
                withIdentity
                    ? "the settings do not allow an export with the board's identity"
                    : "the settings do not allow an export of the vault",
                remedy: "set vault.export, see: latchkey config show")
        case .exportInProgress:
            Explanation(
                "vault.export-in-progress", .busy, "another export is being made or restored",
                remedy: "try again when it has ended")
        case .noSuchPart(let part):
            Explanation(
                "agent.no-such-part", .notFound, "this board has no \(part)",
                remedy: "name it in the board definition, see: latchkey board list")
        case .noSuchAction(let name):
            Explanation(
                "agent.no-such-action", .notFound, "there is no action \"\(name)\"",
                remedy: "list them with: latchkey actions; [[actions]] in the settings defines them")
        case .signingKeyExists(let name):
            Explanation(
                "agent.signing-key-exists", .conflict, "a key \(name) already exists",
                remedy: "use another name, or remove it first: latchkey keys remove \(name)")
        case .tooManySigningKeys(let limit):
            Explanation(
                "agent.too-many-signing-keys", .conflict, "there are already \(limit) signing keys",
                remedy: "remove one: latchkey keys list")
        case .answerTypeUnexpected(let expected, let found, let status):
            Explanation(
                "agent.answer-type-unexpected", .invalidAnswer,
                "the answer is \(found ?? "untyped"), not \(expected); the API has already carried out the call",
                remedy: "to see the answer, call again without an expected type, if repeating the call does no harm",
                gateway: .local(100_401, httpStatus: status))
        }
    }

    private static let logInAgain = "begin again with: latchkey login --browser"

    package static let examples: [AgentError] = [
        .notEnrolled, .stateDirectory(path: "PATH", reason: "REASON"), .stateDirectoryInUse(path: "PATH"),
        .stateDirectoryOfOther(path: "PATH", owner: 0, user: 65_534),
        .passphraseUnreadable(path: "PATH", reason: "REASON"),
        .badRequest(member: "MEMBER", fault: "is missing"), .topicReserved("TOPIC"), .subscriptionEnded,
        .noProximityService,
        .browserNotOffered, .providerNotOffered(offered: ["NAME"]), .logInStopped, .noProfile,
        .pageNotEnabled, .browserAnswerInvalid(reason: "REASON"), .noSuchLogin("ID"), .slotInUse(1),
        .exportNotAllowed(withIdentity: false), .exportNotAllowed(withIdentity: true), .exportInProgress,
        .noSuchPart("PART"), .noSuchAction("NAME"), .signingKeyExists("NAME"), .tooManySigningKeys(limit: 32),
        .answerTypeUnexpected(expected: "TYPE", found: "TYPE", status: 200),
        .answerTypeUnexpected(expected: "TYPE", found: nil, status: 200),
    ]
}
