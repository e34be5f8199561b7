import Cryptography
import FoundationEssentials
import Groundwork

/// An access token, for calls with it.
public struct AccessToken: Sendable, Equatable {
    public let value: SecretBytes
    /// When it expires, by the clock of this machine.
    public let expiresAt: Date
    /// Whether the server has said when it expires; otherwise it refuses the token some day.
    public let isEndKnown: Bool
    /// How long it was valid when it was asked for; `nil` if the server does not say.
    public var lifeLeft: Duration?
    /// Granted scopes.
    public let scope: Set<String>
}

/// An access token as a session keeps it.
public struct HeldToken: Sendable, Equatable {
    public let value: SecretBytes
    public let receivedAt: Date
    /// In seconds, from ``receivedAt`` on.
    public let lifetime: TimeInterval
    /// Granted scopes, in the order the server gave them.
    public let scope: String
    /// When it expires by a clock that is never set, so that correcting the wall clock neither ends a token nor keeps
    /// it forever.
    public let deadline: Duration

    /// A token that was just received.
    ///
    /// - Parameter uptime: time since any fixed moment, by a clock that is never set.
    public init(value: SecretBytes, lifetime: TimeInterval, scope: String, at now: Date, uptime: Duration) {
        self.value = value
        self.lifetime = lifetime
        self.scope = scope
        receivedAt = now
        deadline = uptime + .seconds(lifetime)
    }

    /// A token from an earlier run, whose age is only known by the wall clock. A token that seems to come from the
    /// future is of unknown age and counts as expired.
    ///
    /// - Parameter uptime: time since any fixed moment, by a clock that is never set.
    public init(
        value: SecretBytes, lifetime: TimeInterval, scope: String, receivedAt: Date, at now: Date, uptime: Duration
    ) {
        self.value = value
        self.lifetime = lifetime
        self.scope = scope
        self.receivedAt = receivedAt
        let age = now.timeIntervalSince(receivedAt)
        deadline = age < 0 ? uptime - .seconds(1) : uptime + .seconds(lifetime - age)
    }

    /// Valid while now is not later than receipt plus lifetime.
    public func isValid(at uptime: Duration) -> Bool { uptime <= deadline }

    public func token(at now: Date, uptime: Duration) -> AccessToken {
        AccessToken(
            value: value, expiresAt: now + (deadline - uptime).inSeconds, isEndKnown: isEndKnown,
            lifeLeft: isEndKnown ? deadline - uptime : nil,
            scope: Scope.words(scope))
    }

    /// As in ``AccessToken``: a longer life than is accepted stands for an unknown one.
    public var isEndKnown: Bool { lifetime < TokenAnswer.lifetimeLimit }
}

/// An id_token as a session keeps it: validated (OpenID Connect Core section 3.1.3.7), unless its type cannot be.
public struct HeldIDToken: Sendable, Equatable {
    /// The type of an id_token that is a JWT (RFC 7523 section 2.1).
    public static let jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    public let value: SecretBytes
    /// The grant type for which it serves as an assertion.
    public let type: String
    /// `nil` for a type that is not validated and therefore not read.
    public let expires: Date?

    public init(value: SecretBytes, type: String, expires: Date?) {
        self.value = value
        self.type = type
        self.expires = expires
    }
}
