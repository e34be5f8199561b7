import Foundation

/// The lab's persistent state (MAG 14.3). Tokens and secrets are in the clear: it is a lab, and only the file's owner
/// can read it.
struct LabState: Sendable, Equatable, Codable {
    /// By dynamic client id.
    var instances: [String: ClientInstance] = [:]
    /// By mag-identifier.
    var devices: [String: LabDevice] = [:]
    /// By `jti`.
    var sessions: [String: LabSession] = [:]
    /// By token value.
    var accessTokens: [String: LabAccessToken] = [:]
    /// By token value.
    var refreshTokens: [String: LabRefreshToken] = [:]
    /// By the `jti` of the URL's sessionData.
    var tickets: [String: EnrollmentTicket] = [:]
    /// `nil` in files of earlier versions, and until something is stored.
    var services: LabServices?
    /// `nil` in files of earlier versions, and until M-Pin is first used.
    var mpin: MPinState?

    /// The registration of a device identifier, if there is one.
    func device(withID deviceID: String) -> LabDevice? {
        devices.values.first { $0.deviceID == deviceID }
    }

    /// Removes expired entries, so that the state does not grow forever.
    mutating func sweep(_ now: Date) {
        instances = instances.filter { !$0.value.hasEnded(now) }
        sessions = sessions.filter { $0.value.expiresAt > now }
        // Expired tokens are kept for a day: a client that uses one is told that it has expired.
        accessTokens = accessTokens.filter { $0.value.expiresAt > now - 86_400 }
        refreshTokens = refreshTokens.filter { $0.value.expiresAt > now }
        tickets = tickets.filter { $0.value.expiresAt > now }
    }

    /// Users with a valid session or token, by the mag-identifier of the device.
    func loggedIn(_ now: Date) -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        func note(_ user: String?, on magIdentifier: String, until end: Date) {
            if let user, end > now { found[magIdentifier, default: []].insert(user) }
        }
        for session in sessions.values { note(session.user, on: session.magIdentifier, until: session.expiresAt) }
        for token in accessTokens.values { note(token.user, on: token.magIdentifier, until: token.expiresAt) }
        for token in refreshTokens.values { note(token.user, on: token.magIdentifier, until: token.expiresAt) }
        return found
    }

    /// Revokes all tokens that meet `condition`, including refresh tokens.
    mutating func revokeTokens(where condition: (_ magIdentifier: String, _ clientID: String) -> Bool) {
        accessTokens = accessTokens.filter { !condition($0.value.magIdentifier, $0.value.clientID) }
        refreshTokens = refreshTokens.filter { !condition($0.value.magIdentifier, $0.value.clientID) }
    }
}

/// Dynamic credentials issued by E2.
struct ClientInstance: Sendable, Equatable, Codable {
    var clientID: String
    var secret: String
    /// Client id of the master client it was initialized under.
    var master: String
    /// The `device-id` it was initialized with; a registration may use another (MAG quirk Q14).
    var deviceID: String
    /// `nil` means never.
    var expiresAt: Date?

    func hasEnded(_ now: Date) -> Bool { expiresAt.map { $0 <= now } ?? false }
}

/// A registered device.
public struct LabDevice: Sendable, Equatable, Codable {
    public enum Status: String, Sendable, Codable {
        case active
        /// Awaits activation by an administrator.
        case pending
    }

    public var magIdentifier: String
    public var deviceID: String
    public var name: String
    /// The user who registered it; `nil` for client credentials.
    public var user: String?
    /// The dynamic client that registered it.
    public var clientID: String
    public var status: Status
    /// DER SubjectPublicKeyInfo of the device's key.
    public var publicKey: [UInt8]
    /// Serial number of the newest certificate, hexadecimal.
    public var certificateSerial: String
    /// End of the newest certificate.
    public var certificateEnds: Date
    public var registeredAt: Date
}

/// The session that an id_token stands for.
struct LabSession: Sendable, Equatable, Codable {
    var jti: String
    var user: String?
    var magIdentifier: String
    /// The dynamic client it was issued to: its `aud`.
    var clientID: String
    var expiresAt: Date
}

public struct LabAccessToken: Sendable, Equatable, Codable {
    public var value: String
    /// Common to all tokens from one login and its refreshes.
    public var family: String
    public var clientID: String
    public var magIdentifier: String
    public var user: String?
    public var scopes: [String]
    public var issuedAt: Date
    public var expiresAt: Date
    /// Set by an administrator: calls are then answered with an `x-ca-err` ending in 993.
    public var isDisabled = false
}

struct LabRefreshToken: Sendable, Equatable, Codable {
    var value: String
    var family: String
    var clientID: String
    var magIdentifier: String
    var user: String?
    var scopes: [String]
    var expiresAt: Date
}

/// Makes an enrollment URL work only once.
struct EnrollmentTicket: Sendable, Equatable, Codable {
    var jti: String
    /// Client id of the master client whose configuration it returns.
    var master: String
    var expiresAt: Date
    var usedAt: Date?
}
