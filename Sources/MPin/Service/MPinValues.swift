import Cryptography

/// Who asks for an access code (MPIN 5.11); empty where the back end does not say.
public struct MPinSessionDetails: Sendable, Equatable {
    public var prerollID = ""
    public var appName = ""
    public var appLogoURL = ""
}

/// What the address in a scanned code says of its service (MPIN 5.3).
public struct MPinServiceDetails: Sendable, Equatable {
    public let name: String
    /// The back end's address.
    public let url: String
    public let prefix: String
    public let logoURL: String
}

/// The one-time password of a login (MPIN 6).
public struct MPinOneTimePassword: Sendable, Equatable {
    /// Of the password alone; the login itself has succeeded. ``MPinStatus/flowError`` if the back end issued none,
    /// ``MPinStatus/responseParseError`` if it does not say for how long.
    public let status: MPinStatus
    public let password: SecretBytes?
    /// Seconds since 1970 by the back end's clock; 0 if unknown.
    public let expireTime: Int64
    public let ttlSeconds: Int64
    /// Seconds since 1970 by the back end's clock; 0 if unknown.
    public let nowTime: Int64
}
