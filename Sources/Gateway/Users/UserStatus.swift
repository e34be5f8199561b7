import FoundationEssentials

/// The logged-in user. Contains no secrets.
public struct UserStatus: Sendable, Equatable {
    /// The user's name at the gateway; `nil` if neither the person nor the gateway has given one.
    public let userName: String?
    public let loggedInAt: Date
    /// Whether there is a session at the gateway in addition to the tokens.
    public let hasIDToken: Bool
    /// When that session ends; `nil` if there is none, or its end is unknown.
    public let idTokenExpiresAt: Date?
    /// `nil` when there is no valid access token; the next call in the user's name obtains one.
    public let token: GatewayStatus.Token?
}
