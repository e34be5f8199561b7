import Cryptography
import FoundationEssentials
import Groundwork

/// An access token for calls to the gateway's APIs and for its broker.
public struct AccessToken: Sendable, Equatable {
    public let value: SecretBytes
    /// By this board's clock.
    public let expiresAt: Date
    /// Granted scopes.
    public let scope: Set<String>
}

/// An access token as the session keeps it.
struct HeldToken: Sendable, Equatable {
    let value: SecretBytes
    let receivedAt: Date
    let lifetime: TimeInterval
    /// Granted scopes, in the order the gateway gave them.
    let scope: String
    /// When it ends by the clock that nobody sets, so that a corrected wall clock neither ends a token nor keeps it for ever.
    let deadline: Duration

    /// A token that has just come in.
    init(value: SecretBytes, lifetime: TimeInterval, scope: String, at now: Date, uptime: Duration) {
        self.value = value
        self.lifetime = lifetime
        self.scope = scope
        receivedAt = now
        deadline = uptime + .seconds(lifetime)
    }

    /// A token from an earlier run, of which only the wall clock knows the age. One that seems to come from the future is
    /// of unknown age and counts as ended.
    init(value: SecretBytes, lifetime: TimeInterval, scope: String, receivedAt: Date, at now: Date, uptime: Duration) {
        self.value = value
        self.lifetime = lifetime
        self.scope = scope
        self.receivedAt = receivedAt
        let age = now.timeIntervalSince(receivedAt)
        deadline = age < 0 ? uptime - .seconds(1) : uptime + .seconds(lifetime - age)
    }

    /// Valid while now is not later than receipt plus lifetime (gateway protocol 5.2).
    func isValid(at uptime: Duration) -> Bool { uptime <= deadline }

    func token(at now: Date, uptime: Duration) -> AccessToken {
        AccessToken(value: value, expiresAt: now + (deadline - uptime).inSeconds, scope: Scope.words(scope))
    }
}

/// An id_token as the session keeps it: validated.
struct HeldIDToken: Sendable, Equatable {
    static let jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    let value: SecretBytes
    let type: String
    /// `nil` for a type that is not validated and so not read.
    let expires: Date?
}
