import Cryptography

/// One way to an access token (RFC 6749 section 1.3), with all that it sends.
///
/// A grant only says what to send and what follows a refusal; a session sends it and keeps what comes back. It tries
/// its grants in an order of its own.
public protocol Grant: Sendable {
    /// For events and errors.
    var name: String { get }

    var request: GrantRequest { get }

    func consequence(of subject: RefusalSubject) -> GrantConsequence
}

extension Grant {
    /// The refusal is the outcome: there is nothing else to try.
    public func consequence(of subject: RefusalSubject) -> GrantConsequence { GrantConsequence(.fail) }
}

/// What a grant sends to the token endpoint.
public struct GrantRequest: Sendable {
    /// The form's `grant_type`.
    public let type: String
    /// Secrets of this grant, as further form fields.
    public let fields: [(name: String, value: SecretBytes)]
    /// `nil` sends none.
    public let scope: String?
    /// Whether the refresh token is gone once the server has answered.
    public let spendsRefreshToken: Bool

    public init(
        type: String, fields: [(name: String, value: SecretBytes)] = [], scope: String?,
        spendsRefreshToken: Bool = false
    ) {
        self.type = type
        self.fields = fields
        self.scope = scope
        self.spendsRefreshToken = spendsRefreshToken
    }
}

/// What follows a refusal, and what is dropped before it does.
public struct GrantConsequence: Sendable, Equatable {
    public enum Step: Sendable, Equatable {
        /// The refusal is the outcome.
        case fail
        /// The next grant is tried.
        case nextGrant
    }
    public let step: Step
    /// Whether the id_token that was presented is of no use any more.
    public let dropsIDToken: Bool

    public init(_ step: Step, dropsIDToken: Bool = false) {
        self.step = step
        self.dropsIDToken = dropsIDToken
    }
}
