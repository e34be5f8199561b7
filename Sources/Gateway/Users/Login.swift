import Cryptography
import OAuth

/// The credentials of a login.
enum Login: Sendable {
    case password(UserCredentials)
    /// An authorization code, and the session that it came from.
    case code(SecretBytes, AuthorizationSession)
    /// An authorization code that a program obtained by itself.
    case handedCode(HandedCode)
    /// A JWT from outside.
    case assertion(UserAssertion)

    /// The grant's name, for events.
    var name: String {
        switch self {
        case .password: PasswordGrant.name
        case .code, .handedCode: AuthorizationCodeGrant.name
        case .assertion: UserAssertion.grantName
        }
    }

    var userName: String? {
        switch self {
        case .password(let credentials): credentials.name
        case .code, .handedCode, .assertion: nil
        }
    }

    /// Whether a registration uses it up, so that the gateway gives no token for it afterwards (MAG 7.2).
    var isUsedUpByRegistration: Bool {
        switch self {
        case .code, .handedCode: true
        case .password, .assertion: false
        }
    }

    /// Who authorizes the registration of an unregistered device.
    ///
    /// - Parameter redirectURI: the configured one, for codes that do not name another.
    /// - Throws: ``GatewayError/userCredentialsUnusable(reason:)`` for a name that the registration cannot carry.
    func voucher(singleSignOn: Bool, redirectURI: String?) throws(GatewayError) -> RegistrationVoucher {
        switch self {
        case .password(let credentials):
            // RFC 7617 section 2: the first colon ends the name. A token request carries it in a form.
            guard !credentials.name.contains(":") else {
                throw .userCredentialsUnusable(
                    reason:
                        "the user name contains a colon, which a registration cannot carry: register the board first")
            }
            return .password(credentials, createsSession: singleSignOn)
        case .code(let code, let session):
            return .code(
                code, verifier: session.proof.verifier, redirectURI: session.redirectURI ?? redirectURI,
                createsSession: singleSignOn)
        case .handedCode(let code):
            return .code(
                code.value, verifier: code.verifier, redirectURI: code.redirectURI ?? redirectURI,
                createsSession: singleSignOn)
        case .assertion(let assertion): return .assertion(assertion, createsSession: singleSignOn)
        }
    }
}
