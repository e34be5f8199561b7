import Cryptography
import FoundationEssentials

/// One way to an access token (gateway protocol 5.1). A session tries its grants in order (5.3) and takes the first that applies.
///
/// A grant only says what to send and what a refusal means; the session sends it and keeps what comes back.
protocol Grant: Sendable {
    /// For events and errors.
    var name: String { get }

    /// `nil` when this grant does not apply now.
    func request(_ situation: GrantSituation) -> GrantRequest?

    func consequence(of refusal: Refusal) -> GrantConsequence
}

/// What a grant may look at.
struct GrantSituation: Sendable {
    let configuration: GatewayConfiguration
    let now: Date
    let refreshToken: SecretBytes?
    let idToken: HeldIDToken?
    /// Scopes that the caller needs beyond the configured ones.
    let additionalScope: String?
}

struct GrantRequest: Sendable {
    /// The form's `grant_type`.
    let type: String
    /// Secrets of this grant, as further form fields.
    let fields: [(name: String, value: SecretBytes)]
    /// `nil` sends none.
    let scope: String?
    /// Whether the refresh token is gone once the gateway has answered (5.3).
    var spendsRefreshToken = false
}

/// What follows a refusal, and what is dropped before it does.
struct GrantConsequence: Sendable, Equatable {
    enum Step: Sendable, Equatable {
        /// The refusal is the outcome; the recovery table (6.4) decides.
        case fail
        /// The next grant is tried.
        case nextGrant
    }
    let step: Step
    var dropsIDToken = false
}

extension Refusal {
    /// The refusals that are about the client, not about what was granted: no other grant would fare better (5.3).
    var concernsClient: Bool { [3_003_107, 3_003_115, 3_003_201, 3_003_206].contains(code) }
}
