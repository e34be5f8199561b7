import Cryptography

/// One way to obtain an access token (RFC 6749 section 1.3), with everything that it sends.
///
/// A grant only says what to send and what follows a refusal; a session sends it and keeps the tokens. The session
/// decides in which order it tries its grants.
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
    /// `nil` sends no scope.
    public let scope: String?
    /// Whether the refresh token is used up once the server has answered.
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

/// What to do after a refusal, and what to drop before that.
public struct GrantConsequence: Sendable, Equatable {
    public enum Step: Sendable, Equatable {
        /// The refusal is the outcome.
        case fail
        /// The next grant is tried.
        case nextGrant
    }
    public let step: Step
    /// Whether the id_token that was presented is no longer usable.
    public let dropsIDToken: Bool

    public init(_ step: Step, dropsIDToken: Bool = false) {
        self.step = step
        self.dropsIDToken = dropsIDToken
    }
}
