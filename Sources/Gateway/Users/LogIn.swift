import Cryptography
import OAuth

/// The credentials of a login.
enum LogIn: Sendable {
    case password(UserCredentials)
    /// An authorization code, and the session that it came from.
    case code(SecretBytes, AuthorizationSession)

    /// The grant's name, for events.
    var name: String {
        switch self {
        case .password: PasswordGrant.name
        case .code: AuthorizationCodeGrant.name
        }
    }

    var userName: String? {
        switch self {
        case .password(let credentials): credentials.name
        case .code: nil
        }
    }

    /// Who authorizes the registration of an unregistered device.
    ///
    /// A code works once: without a session (single sign-on off) it would give the registration but no token, so the
    /// client registers the device and the code is kept for the token.
    func voucher(singleSignOn: Bool, redirectURI: String?) -> RegistrationVoucher {
        switch self {
        case .password(let credentials): .password(credentials, createsSession: singleSignOn)
        case .code(let code, let session) where singleSignOn:
            .code(code, verifier: session.proof.verifier, redirectURI: redirectURI)
        case .code: .client
        }
    }
}
