/// Whose access token a call uses.
public enum Principal: String, Sendable, Hashable, CaseIterable {
    /// The board itself, by its client credentials; the default.
    case board
    /// The logged-in user.
    case user
}
