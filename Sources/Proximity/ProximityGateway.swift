/// The functions of the gateway session that this module needs. The agent implements it.
public protocol ProximityGateway: Sendable {
    /// - Returns: the name of the user whose session is shared; `nil` if it is unknown.
    /// - Throws: if no user is logged in here: only a user's token authorizes another device (MAG 7.3).
    @discardableResult
    func requireUserSession() async throws -> String?
    /// Checks that a scanned or received URL is one of this gateway (MAG 7.3). Sends no request.
    ///
    /// - Throws: if it is not, or is not a URL
    func checkOrigin(_ providerURL: String) throws
    /// The identifier of the session that a URL would authorize, the same for every spelling of the URL.
    ///
    /// - Throws: also ``ProximityError/invalidAuthorizeURL(reason:)`` if it is not one of this gateway's authorization
    ///   URLs
    func sessionIdentifier(in providerURL: String) async throws -> String
    /// Authorizes the device that shows or sent the URL, with the token of the user logged in here.
    func authorize(_ providerURL: String) async throws
    /// Opens an authorization session for a login of this device with the help of another one (MAG 7.1).
    ///
    /// - Throws: also if the gateway offers no provider `qrcode`
    func beginAuthorization() async throws -> PendingAuthorization
}

/// An authorization session that waits for another device to authorize it.
public struct PendingAuthorization: Sendable {
    /// The gateway's URL to show or send to the other device, verbatim.
    public let authURL: String
    /// Polls the gateway once.
    public let poll: @Sendable () async throws -> PollOutcome

    public init(authURL: String, poll: @escaping @Sendable () async throws -> PollOutcome) {
        self.authURL = authURL
        self.poll = poll
    }
}

public enum PollOutcome: Sendable {
    case pending
    /// The other device authorized this one. `logIn` spends the code and returns the name of the user.
    case authorized(logIn: @Sendable () async throws -> String)
}
