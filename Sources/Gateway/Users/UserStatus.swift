import FoundationEssentials

/// Who is logged in. Nothing secret is in it.
public struct UserStatus: Sendable, Equatable {
    /// As the gateway names the user; `nil` where neither the person nor the gateway has told.
    public let userName: String?
    public let loggedInAt: Date
    /// Whether there is a session at the gateway beside the tokens.
    public let hasIDToken: Bool
    /// When that session ends; `nil` where there is none, or its end is not known.
    public let idTokenExpiresAt: Date?
    /// `nil` when there is no valid access token; the next call in the user's name obtains one.
    public let token: GatewayStatus.Token?
}
