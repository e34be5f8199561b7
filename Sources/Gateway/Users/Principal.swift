/// In whose name a call is made, and so whose access token it carries.
public enum Principal: String, Sendable, Hashable, CaseIterable {
    /// The board itself, by its client credentials; so it is unless somebody asks for the other.
    case board
    /// The person who is logged in.
    case user
}
