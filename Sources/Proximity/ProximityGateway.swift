/// What this room needs of the gateway session. The agent fills it.
public protocol ProximityGateway: Sendable {
    /// - Returns: the name of the user in whose name others are let in; `nil` where it is not known.
    /// - Throws: when no user is logged in here: only a user's token authorizes another device (MAG 7.3).
    @discardableResult
    func requireUserSession() async throws -> String?
    /// Whether a scanned or received URL is one of this gateway (MAG 7.3). No request is made.
    ///
    /// - Throws: when it is not, or is no URL
    func checkOrigin(_ providerURL: String) throws
    /// What names the session that a URL would authorize, however that is spelled.
    ///
    /// - Throws: also ``ProximityError/invalidAuthorizeURL(reason:)`` when it is not a URL by which this gateway authorizes
    ///   devices
    func sessionIdentifier(in providerURL: String) async throws -> String
    /// Authorizes the device that shows or sent the URL, by the token of the user logged in here.
    func authorize(_ providerURL: String) async throws
    /// Opens an authorization session for a login of this device by another one (MAG 7.1).
    ///
    /// - Throws: also when the gateway offers no provider `qrcode`
    func beginAuthorization() async throws -> PendingAuthorization
}

/// An authorization session that waits for another device to authorize it.
public struct PendingAuthorization: Sendable {
    /// What the other device is shown or sent, as the gateway wrote it.
    public let authURL: String
    /// Asks the gateway once.
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
