/// Where a user stands (MPIN 7). Exchanged by name: the public clients do not agree on numbers.
public enum MPinUserState: String, Sendable, CaseIterable {
    /// Made, but not registered; only in memory.
    case invalid = "INVALID"
    /// The back end waits for the user to be verified.
    case startedRegistration = "STARTED_REGISTRATION"
    /// Verified; the PIN is to be chosen.
    case activated = "ACTIVATED"
    case registered = "REGISTERED"
    /// The PIN was wrong too often. Nothing is left but to delete the user.
    case blocked = "BLOCKED"
}

/// A user at one back end, as it was when this value was made. It stands for that user until the user is deleted; one
/// made later by the same name is another.
public struct MPinUser: Sendable, Equatable {
    /// As the application named the user.
    public let id: String
    /// The back end's address without its scheme (MPIN 6).
    public let backend: String
    /// What the device was called at the registration.
    public let deviceName: String?
    public let state: MPinUserState
    /// Whether both client secret shares are in memory, so that a PIN can be chosen.
    public let isConfirmed: Bool
    /// Tells users of one name apart within this process.
    let serial: Int
}
