import Foundation

/// What began with one call of E3: a client that waits for a person to say who they are (MAG 7).
///
/// All its URLs hold ``id``; the challenge and the state belong to it. It lives for minutes, so it is not kept on disk.
struct Authorization: Sendable, Equatable {
    enum Progress: Sendable, Equatable {
        case waiting
        /// A person has authorized it; the code waits to be fetched and used.
        case authorized(AuthorizationCode)
        case used(AuthorizationCode)
        /// With the suffix of `x-ca-err`: 123 for the log-in, 124 for the consent.
        case denied(suffix: Int)
    }

    var id: String
    /// As E3 gave it: a dynamic client id, or that of a master client, which stands for all its instances.
    var clientID: String
    /// Client id of the master client.
    var master: String
    /// The registered device that asked; `nil` for one that is not registered yet.
    var magIdentifier: String?
    var redirectURI: String
    var scopes: [String]
    /// SHA-256 of the verifier; `nil` without PKCE.
    var challenge: [UInt8]?
    var state: String?
    var expiresAt: Date
    var progress = Progress.waiting

    /// The code, as long as the session knows one.
    var code: AuthorizationCode? {
        switch progress {
        case .authorized(let code), .used(let code): code
        case .waiting, .denied: nil
        }
    }

    /// Whether a person can still authorize it, or has, and the code can still be used.
    func isOpen(_ now: Date) -> Bool {
        switch progress {
        case .waiting: expiresAt > now
        case .authorized(let code): code.expiresAt > now
        case .used, .denied: false
        }
    }

    /// When nothing of it can matter any more.
    var isOver: Date { max(expiresAt, code?.expiresAt ?? expiresAt) }
}

/// What a client exchanges for a registration or for tokens, once.
struct AuthorizationCode: Sendable, Equatable {
    var value: String
    var user: String
    var expiresAt: Date
}
