import Cryptography

/// Changes a request before it is sent: adds a token, a device header, a body.
public protocol RequestFilter: Sendable {
    /// - Parameter attempt: 1 for the first time this request is sent, 2 after one restart, and so on.
    /// - Throws: anything; the request is then not sent and the error is the outcome.
    func prepare(_ request: inout HTTPRequest, attempt: Int) async throws
}

/// A response filter's verdict on a response.
public enum Judgement: Sendable {
    /// The response, changed or not, goes to the next filter.
    case accept(HTTPResponse)
    /// A problem was fixed; the original request is sent again through all request filters.
    case restart
}

/// Looks at a response before the caller does: recovers, translates, refuses.
public protocol ResponseFilter: Sendable {
    /// - Parameter request: as it was sent, after all request filters.
    /// - Throws: anything; the error is then the outcome.
    func judge(_ response: HTTPResponse, to request: HTTPRequest, attempt: Int) async throws -> Judgement
}

/// Answers a server's request for a client identity.
public protocol ChallengeFilter: Sendable {
    /// The identity to offer in TLS to this host, or `nil` to pass the question to the next filter.
    ///
    /// Called before each connection, because there is no time for it during the TLS handshake.
    func identity(for host: String) async throws -> TLSIdentity?
}
