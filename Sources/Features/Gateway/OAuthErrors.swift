import AgentCore

/// The error codes of OAuth 2.0 and its family, which a gateway sends besides its own numbers.
package enum OAuthErrors {
    package static let all: [CatalogueEntry] = codes.map { name, source, meaning, remedy in
        CatalogueEntry(
            name: name, category: .oauthError, meaning: meaning, source: source,
            wordings: remedy.map { [.init(message: meaning, remedy: $0)] } ?? [])
    }

    private static let compareClient = "compare the client in the configuration with the one at the gateway"
    private static let logInAgain = "start the login again"

    private static let codes: [(name: String, source: String, meaning: String, remedy: String?)] = [
        ("access_denied", "RFC 6749 section 4.1.2.1", "the user or the server denied the login", logInAgain),
        (
            "authorization_pending", "RFC 8628 section 3.5", "the device has not been authorized yet",
            "wait; the request is repeated automatically"
        ),
        ("consent_required", "OpenID Connect Core section 3.1.2.6", "the user must agree first", logInAgain),
        (
            "expired_token", "RFC 8628 section 3.5", "the device's code expired before a user authorized it",
            logInAgain
        ),
        (
            "insufficient_scope", "RFC 6750 section 3.1", "the access token lacks a scope that the called API demands",
            "ask the gateway's administrator to register the scope for this client"
        ),
        (
            "interaction_required", "OpenID Connect Core section 3.1.2.6",
            "the server must show something to the user",
            logInAgain
        ),
        (
            "invalid_client", "RFC 6749 section 5.2", "the client is unknown, or did not authenticate itself",
            compareClient
        ),
        (
            "invalid_client_metadata", "RFC 7591 section 3.2.2",
            "a value that a client wants to register with is not valid", nil
        ),
        (
            "invalid_grant", "RFC 6749 section 5.2",
            "a code, refresh token, assertion or password is wrong, expired, already used or another client's",
            "log in again"
        ),
        ("invalid_redirect_uri", "RFC 7591 section 3.2.2", "a redirection address is not valid", nil),
        ("invalid_request", "RFC 6749 section 5.2", "a parameter is missing, is not valid or is given twice", nil),
        (
            "invalid_scope", "RFC 6749 section 5.2",
            "the scope is unknown, or is more than the client or user may have",
            "compare the scope in the configuration with the one that is registered for the client"
        ),
        (
            "invalid_token", "RFC 6750 section 3.1", "the access token has expired, was revoked or is not valid",
            "no action needed: the agent gets a new one and repeats the request"
        ),
        (
            "login_required", "OpenID Connect Core section 3.1.2.6", "the user must log in first",
            "log in: latchkey login"
        ),
        (
            "server_error", "RFC 6749 section 4.1.2.1", "the server failed",
            "try again; if it persists, look at the gateway's log"
        ),
        (
            "slow_down", "RFC 8628 section 3.5", "the server is asked too often",
            "wait; the request is repeated automatically, less often"
        ),
        (
            "temporarily_unavailable", "RFC 6749 section 4.1.2.1", "the server is overloaded or is being maintained",
            "try again later"
        ),
        ("unauthorized_client", "RFC 6749 section 5.2", "the client may not use this grant", compareClient),
        ("unsupported_grant_type", "RFC 6749 section 5.2", "the server does not know this grant", nil),
        ("unsupported_response_type", "RFC 6749 section 4.1.2.1", "the server gives no answer of this type", nil),
        ("unsupported_token_type", "RFC 7009 section 2.2.1", "the server does not revoke tokens of this type", nil),
    ]
}
