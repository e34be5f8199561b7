import Cryptography
import FoundationEssentials
import Groundwork
import OAuth

/// Why an account at an OAuth server cannot be made or used. No case quotes a token, a secret or an address with one.
public enum OAuthAccountError: Explained, Equatable {
    /// What was given for the account does not fit together.
    case configurationInvalid(reason: String)
    /// What is stored of the account cannot be read.
    case recordInvalid(account: String)
    /// The server's own description is missing or wrong.
    case metadataInvalid(issuer: String, reason: String)
    /// The description, or an answer, is of another server.
    ///
    /// - Parameter found: what it calls itself, if it does.
    case issuerWrong(expected: String, found: String?)
    /// The server describes endpoints that nothing is sent to, each with its address.
    case endpointsUnusable([String])
    /// The server answered a request to an endpoint with the address of another.
    case redirected(endpoint: String)
    case answerInvalid(endpoint: String, reason: String)
    case refused(endpoint: String, OAuthRefusal)
    /// Something that is not the server answered, or the server failed.
    case noAnswer(endpoint: String, status: Int)
    /// The server wants no request at an endpoint before this time.
    case notYet(endpoint: String, until: Date)
    /// The server has no such endpoint.
    case endpointMissing(String)
    /// There is no valid token, and only a person can obtain one.
    case loginRequired(account: String)
    /// There is nothing that a log-out could end.
    case nobodyLoggedIn(account: String)
    /// The same, because the server does not take the refresh token any more.
    case refreshRefused(account: String, error: String, text: String?, afterLostAnswer: Bool)
    /// The account has another grant.
    case wrongGrant(account: String, grant: String)
    /// The address at which a browser ended is not the answer.
    case browserAnswerInvalid(reason: String)
    /// The answer belongs to another login.
    case stateMismatch
    case idTokenInvalid(reason: String)
    /// The server signs id_tokens in a way that cannot be verified here.
    case idTokenUnsupported(algorithms: [String])
    case noSuchLogin
    case deviceCodeExpired
    case deviceDenied
    /// The address of a call is on a host that must not get the token.
    case hostNotAllowed(host: String)
    /// The information about the user is of another user.
    case userMismatch

    public var explanation: Explanation {
        switch self {
        case .configurationInvalid(let reason):
            Explanation(
                "oauth.configuration-invalid", .invalidInput, "the account cannot be made: \(reason)",
                remedy: "see: latchkey accounts add --help")
        case .recordInvalid(let account):
            Explanation(
                "oauth.record-invalid", .damaged, "the stored records of the account \(account) cannot be read",
                remedy: "remove it and make it again: latchkey accounts remove --force \(account)")
        case .metadataInvalid(let issuer, let reason):
            Explanation(
                "oauth.metadata-invalid", .invalidAnswer, "\(issuer) does not describe itself: \(reason)",
                remedy: "check the issuer; or name its endpoints: latchkey accounts add --help")
        case .issuerWrong(let expected, let found):
            Explanation(
                "oauth.issuer-wrong", .refused,
                "the answer is from another server than \(expected): "
                    + (found.map { "it identifies itself as \(DisplayText.oneLine($0, limit: 512))" }
                        ?? "it does not say which"),
                remedy: Self.remedy(issuer: expected, found: found))
        case .endpointsUnusable(let endpoints):
            Explanation(
                "oauth.endpoints-unusable", .refused,
                "the server names addresses that are not https: \(endpoints.joined(separator: ", "))",
                remedy:
                    "ask its administrator to set its public address, unknown to a server behind a proxy; or name "
                    + "each endpoint by its public address: --endpoint NAME=https://…")
        case .redirected(let endpoint):
            Explanation(
                "oauth.redirected", .refused, "the \(endpoint) sends this board to another address",
                remedy: "compare the server's address with its documentation; secrets are not sent elsewhere")
        case .answerInvalid(let endpoint, let reason):
            Explanation(
                "oauth.answer-invalid", .invalidAnswer, "the answer of the \(endpoint) cannot be used: \(reason)")
        case .refused(let endpoint, let refusal):
            Explanation(
                "oauth.refused", .refused,
                "the \(endpoint) refused: \(refusal.error)\(refusal.text.map { " (\($0))" } ?? "")",
                remedy: "what it means: latchkey explain \(refusal.code?.rawValue ?? "oauth.refused")",
                meaning: "the server refused the request with a code of its own")
        case .noAnswer(let endpoint, let status):
            Explanation(
                "oauth.no-answer", .unreachable, "the \(endpoint) answered with status \(status) and no reason",
                remedy: "try again; if it persists, check the server and any proxy in front of it")
        case .notYet(let endpoint, let time):
            Explanation(
                "oauth.not-yet", .temporary,
                "the \(endpoint) accepts no request before \(time.formatted(.iso8601)), so none is sent",
                remedy: "try again then; if it persists, ask the server's administrator how often it may be asked")
        case .endpointMissing(let endpoint):
            Explanation(
                "oauth.endpoint-missing", .conflict, "the server has no \(endpoint)",
                remedy: "if it has one that it does not announce, name it when you make the account")
        case .loginRequired(let account):
            Explanation(
                "oauth.login-required", .unconfigured,
                "the account \(account) has no token for this, and no user is asked",
                remedy: "log in: latchkey login --account \(account)")
        case .nobodyLoggedIn(let account):
            Explanation("oauth.nobody-logged-in", .conflict, "no user is logged in at the account \(account)")
        case .refreshRefused(let account, let error, let text, let isAfterLostAnswer):
            Explanation(
                "oauth.refresh-refused", .unconfigured,
                "the server no longer renews the token of the account \(account): "
                    + "\(error)\(text.map { " (\($0))" } ?? "")"
                    + (isAfterLostAnswer ? ", after an answer to an earlier renewal was lost" : ""),
                remedy: "log in again: latchkey login --account \(account)")
        case .wrongGrant(let account, let grant):
            Explanation(
                "oauth.wrong-grant", .conflict, "the account \(account) logs in by \(grant)",
                remedy: "log in with this grant: latchkey login --account \(account)")
        case .browserAnswerInvalid(let reason):
            Explanation(
                "oauth.browser-answer-invalid", .invalidInput, "cannot log in with that address: \(reason)",
                remedy: "begin again, and give the whole address at which the browser arrives",
                browserAnswer: .unusable)
        case .stateMismatch:
            Explanation(
                "oauth.state-mismatch", .refused, "the address belongs to another login",
                remedy: "begin again, and use the address of this login only", browserAnswer: .ofAnotherLogin)
        case .idTokenInvalid(let reason):
            Explanation(
                "oauth.id-token-invalid", .refused, "the server's id_token is not accepted: \(reason)",
                remedy: "check this board's clock, the client id and the issuer")
        case .idTokenUnsupported(let algorithms):
            Explanation(
                "oauth.id-token-unsupported", .refused,
                "the server signs id_tokens with \(algorithms.joined(separator: " or ")), which is not verified here",
                remedy:
                    "let its administrator choose RS256, PS256, ES256 or EdDSA for this client; or use it without the "
                    + "scope openid")
        case .noSuchLogin:
            Explanation(
                "oauth.no-such-log-in", .notFound, "no such login is in progress", remedy: "begin again")
        case .deviceCodeExpired:
            Explanation(
                "oauth.device-code-expired", .cancelled, "the code expired before the user agreed",
                remedy: "begin again")
        case .deviceDenied:
            Explanation("oauth.device-denied", .denied, "the user did not agree", remedy: "begin again")
        case .hostNotAllowed(let host):
            Explanation(
                "oauth.host-not-allowed", .permission, "the token of this account is not sent to \(host)",
                remedy: "name the API when the account is made: latchkey accounts add --resource URL")
        case .userMismatch:
            Explanation(
                "oauth.user-mismatch", .refused, "the server's information is about another user",
                remedy: "log out and in again; if it persists, report it to the server's administrator")
        }
    }

    /// What to do about a server that calls itself otherwise.
    private static func remedy(issuer expected: String, found: String?) -> String {
        guard let found else { return "begin again; if it persists, the connection may be intercepted" }
        if found == expected + "/" || found + "/" == expected {
            return "if this is the intended server, give the issuer as it writes it: --issuer \(found)"
        }
        if found.contains("{") {
            return "the server has many tenants: give the issuer of one, with its id in place of the text in braces"
        }
        return "check the issuer, letter by letter; if it is right, the connection may be intercepted"
    }

    public static let examples: [OAuthAccountError] = [
        .configurationInvalid(reason: "REASON"), .recordInvalid(account: "NAME"),
        .metadataInvalid(issuer: "URL", reason: "REASON"), .issuerWrong(expected: "URL", found: "URL"),
        .endpointsUnusable(["ENDPOINT URL"]), .redirected(endpoint: "ENDPOINT"),
        .answerInvalid(endpoint: "ENDPOINT", reason: "REASON"),
        .refused(endpoint: "ENDPOINT", OAuthRefusal(status: 400, error: "ERROR", text: "TEXT")),
        .noAnswer(endpoint: "ENDPOINT", status: 502),
        .notYet(endpoint: "ENDPOINT", until: Date(timeIntervalSince1970: 1_800_000_000)), .endpointMissing("ENDPOINT"),
        .loginRequired(account: "NAME"), .nobodyLoggedIn(account: "NAME"),
        .refreshRefused(account: "NAME", error: "ERROR", text: "TEXT", afterLostAnswer: true),
        .wrongGrant(account: "NAME", grant: "GRANT"), .browserAnswerInvalid(reason: "REASON"), .stateMismatch,
        .idTokenInvalid(reason: "REASON"), .idTokenUnsupported(algorithms: ["ALGORITHM"]), .noSuchLogin,
        .deviceCodeExpired, .deviceDenied,
        .hostNotAllowed(host: "HOST"), .userMismatch,
    ]
}

extension IDTokenFault {
    /// Completes a sentence about the id_token.
    ///
    /// - Parameter expected: values of claims that may be told.
    func reason(of token: String, _ expected: [String: String]) -> String {
        switch self {
        case .malformed: return "it is not a signed token"
        case .algorithmUnsupported(let name): return "it is signed with \(name)"
        case .signatureInvalid: return "no published key has signed it"
        case .expired: return "it has expired"
        case .claimRefused(let claim):
            guard let wanted = expected[claim] else { return "its \(claim) is not as required" }
            let found = JWS.claims(of: token)?[claim].map { DisplayText.oneLine($0.string ?? $0.text, limit: 256) }
            return "its \(claim) is \(found ?? "missing"), not \(wanted)"
        }
    }
}
