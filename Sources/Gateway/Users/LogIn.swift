import Cryptography
import OAuth

/// What a person logs in with.
enum LogIn: Sendable {
    case password(UserCredentials)
    /// An authorization code, and the session it came of.
    case code(SecretBytes, AuthorizationSession)

    /// For events.
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

    /// Who vouches for a device that is not registered yet.
    ///
    /// A code gives one thing: without a session (single sign-on off) that would be the registration and no token, so the
    /// client registers the device and the code is left for the token.
    func voucher(singleSignOn: Bool, redirectURI: String?) -> RegistrationVoucher {
        switch self {
        case .password(let credentials): .password(credentials, createsSession: singleSignOn)
        case .code(let code, let session) where singleSignOn:
            .code(code, verifier: session.proof.verifier, redirectURI: redirectURI)
        case .code: .client
        }
    }
}
