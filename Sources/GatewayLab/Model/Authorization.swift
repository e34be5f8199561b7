import Foundation

/// An authorization session, started by a call of E3: a client waits for a user to log in (MAG 7).
///
/// All its URLs contain ``id``; the challenge and the state belong to it. It lives for minutes, so it is not kept on
/// disk.
struct Authorization: Sendable, Equatable {
    enum Progress: Sendable, Equatable {
        case waiting
        /// A user has authorized it; the code waits to be fetched and used.
        case authorized(AuthorizationCode)
        case used(AuthorizationCode)
        /// With the last digits of `x-ca-err`: 123 for the login, 124 for the consent.
        case denied(suffix: Int)
    }

    var id: String
    /// As given to E3: a dynamic client id, or that of a master client, which stands for all its instances.
    var clientID: String
    /// Client id of the master client.
    var master: String
    /// The registered device that started it; `nil` if it is not registered yet.
    var magIdentifier: String?
    var redirectURI: String
    var scopes: [String]
    /// SHA-256 of the verifier; `nil` without PKCE.
    var challenge: [UInt8]?
    var state: String?
    var expiresAt: Date
    var progress = Progress.waiting

    /// The code, if the session has one.
    var code: AuthorizationCode? {
        switch progress {
        case .authorized(let code), .used(let code): code
        case .waiting, .denied: nil
        }
    }

    /// Whether a user can still authorize it, or has authorized it and the code can still be used.
    func isOpen(_ now: Date) -> Bool {
        switch progress {
        case .waiting: expiresAt > now
        case .authorized(let code): code.expiresAt > now
        case .used, .denied: false
        }
    }

    /// When it can be forgotten.
    var endsAt: Date { max(expiresAt, code?.expiresAt ?? expiresAt) }
}

/// A code that a client exchanges for a registration or for tokens, once.
struct AuthorizationCode: Sendable, Equatable {
    var value: String
    var user: String
    var expiresAt: Date
}
