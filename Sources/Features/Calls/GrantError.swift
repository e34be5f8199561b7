import AgentCore
import Groundwork

/// Why a program may not act in the name of the board or its user, or a grant cannot be changed.
package enum GrantError: Explained, Equatable {
    /// No grant allows it.
    case missing(program: String, use: String)
    /// A grant refuses it.
    case refused(program: String, use: String)
    /// What allowed it was taken back.
    case revoked
    /// The account was removed, switched to another gateway, stopped or started after it was asked for.
    case accountChanged(account: String)
    /// The gateway's configuration keeps the user's session to the agent itself (`sso_enabled`, MAG 12.1).
    case sessionPrivate
    /// The path is an endpoint of the gateway by which the agent manages the board's identity.
    case reserved(path: String)
    case unknown(id: String)
    case inSettings(id: String)
    case tooMany(limit: Int)
    /// A person would have to agree to more than a question can show, in characters.
    case notAskable(limit: Int)
    /// The settings say which programs may do what; only the owners may add to that.
    case onlyOwners
    /// What one user has stored is opened to another's programs by owners only.
    case storeOfOwners
    /// Programs' grants and people's calls rely on how the host proves itself.
    case trustOfOwners(host: String)

    package var explanation: Explanation {
        switch self {
        case .missing(let program, let use):
            Explanation(
                "grants.missing", .permission, "\(program) may not \(use)",
                remedy: "allow it: latchkey grants allow, or [[grants]] of the settings",
                meaning: "no grant allows this program to do that in the name of the board or its user")
        case .refused(let program, let use):
            Explanation(
                "grants.refused", .denied, "\(program) may never \(use)",
                remedy: "revoke the grant that forbids it: latchkey grants list, latchkey grants revoke",
                meaning: "a grant always refuses this program, without asking a user")
        case .revoked:
            Explanation(
                "grants.revoked", .denied, "the grant that allowed this was revoked",
                remedy: "ask the administrator of this board")
        case .accountChanged(let account):
            Explanation(
                "grants.account-changed", .conflict, "the account \(account) changed while this request was waiting",
                remedy: "ask again",
                meaning: "the account was removed, switched, stopped or started after a program had asked")
        case .sessionPrivate:
            Explanation(
                "grants.session-private", .permission,
                "the gateway's configuration does not let programs share the user's session",
                remedy: "act as the board, or ask the gateway's administrator for a configuration with sso_enabled")
        case .reserved(let path):
            Explanation(
                "grants.reserved", .permission,
                "\(path) is an endpoint through which the agent manages the board's identity or lets devices in",
                remedy: "use the commands of the agent, such as renew, logout, token and authorize",
                meaning:
                    "programs may not use the gateway's endpoints for tokens, registration, logout and login of devices"
            )
        case .unknown(let id):
            Explanation(
                "grants.unknown", .notFound, "there is no grant \(id)", remedy: "list them: latchkey grants list")
        case .inSettings(let id):
            Explanation(
                "grants.in-settings", .conflict, "the grant \(id) comes from the settings",
                remedy: "change [[grants]] of the settings, and restart the agent")
        case .tooMany(let limit):
            Explanation(
                "grants.too-many", .conflict, "there are already \(limit) grants",
                remedy: "revoke some: latchkey grants revoke")
        case .notAskable(let limit):
            Explanation(
                "grants.not-askable", .permission,
                "cannot ask a user about so many scopes: a question has at most \(limit) characters",
                remedy: "request fewer scopes, or allow it: latchkey grants allow, or [[grants]] of the settings"
            )
        case .onlyOwners:
            Explanation(
                "grants.only-owners", .permission,
                "grants limit what programs may do, so only root and the agent's user may change them and the hosts",
                remedy: "use sudo, or change [[grants]] of the settings")
        case .storeOfOwners:
            Explanation(
                "grants.store-of-owners", .permission,
                "only root and the agent's user let programs use keys and credentials of another user",
                remedy: "ask the administrator of this board")
        case .trustOfOwners(let host):
            Explanation(
                "grants.trust-of-owners", .permission,
                "\(host) is already trusted: only root and the agent's user may replace its trust, or remove it",
                remedy: "use sudo",
                meaning: "a user who is not an owner wanted to replace the trust in a host, or to remove the host")
        }
    }

    package static let examples: [GrantError] = [
        .missing(program: "PROGRAM", use: "USE"), .refused(program: "PROGRAM", use: "USE"), .revoked,
        .accountChanged(account: "ACCOUNT"), .sessionPrivate, .reserved(path: "PATH"), .unknown(id: "ID"),
        .inSettings(id: "ID"), .tooMany(limit: 64), .notAskable(limit: 256), .onlyOwners, .storeOfOwners,
        .trustOfOwners(host: "HOST"),
    ]
}
