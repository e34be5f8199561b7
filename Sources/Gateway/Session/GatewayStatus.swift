import FoundationEssentials
import Vault

/// The state of a session and of its contact with the gateway. Contains no secrets.
public struct GatewayStatus: Sendable, Equatable {
    public enum Registration: String, Sendable {
        case unregistered
        /// Registered, awaiting activation by an administrator.
        case pending
        case registered
    }

    public struct Certificate: Sendable, Equatable {
        public let notBefore: Date
        public let notAfter: Date
        public let serialNumber: String
        /// Whole days until ``notAfter``, rounded down; negative after it.
        public let daysLeft: Int
    }

    public struct Token: Sendable, Equatable {
        public let receivedAt: Date
        public let expiresAt: Date
        /// Scopes separated by blanks.
        public let scope: String
        public let hasRefreshToken: Bool
    }

    public struct Client: Sendable, Equatable {
        public let clientID: String
        /// `nil` for credentials that never expire.
        public let expiresAt: Date?
        /// Whether the credentials come from the configuration.
        public let isStatic: Bool
    }

    public struct Failure: Sendable, Equatable {
        public let error: GatewayError
        public let at: Date
    }

    public let gateway: GatewayIdentity
    public let masterClientID: String
    public let registration: Registration
    /// The stable identifier of this installation at this gateway; made with the first registration.
    public let deviceID: String?
    public let magIdentifier: String?
    public let certificate: Certificate?
    /// Where the key of the certificate is.
    public let key: KeyReference.Keeper?
    public let client: Client?
    /// `nil` when there is no valid access token.
    public let token: Token?
    public let hasIDToken: Bool
    /// `nil` when no user is logged in.
    public let user: UserStatus?
    /// When the gateway last answered, since the start.
    public let lastContact: Date?
    /// The newest failure since the last success, since the start.
    public let lastFailure: Failure?
}
