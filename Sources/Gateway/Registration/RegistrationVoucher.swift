import Cryptography
import Groundwork
import HTTPClient

/// Who authorizes a registration; determines its endpoint and its data about the user (MAG 4.1, 4.3). Pure.
enum RegistrationVoucher: Sendable {
    /// Endpoint E5, with the client's credentials only.
    case client
    /// Endpoint E4.
    case password(UserCredentials, createsSession: Bool)
    /// Endpoint E4, always with a session: otherwise the code would give no login.
    case code(SecretBytes, verifier: SecretBytes, redirectURI: String?)

    var endpoint: GatewayEndpoint {
        switch self {
        case .client: .registerClient
        case .password, .code: .registerUser
        }
    }

    /// `CN` of the certificate request, of at most 64 characters (RFC 5280, ub-common-name).
    var commonName: String {
        switch self {
        case .client: "clientName"
        case .password(let credentials, _): String(String.UnicodeScalarView(credentials.name.unicodeScalars.prefix(64)))
        case .code: "socialLogin"
        }
    }

    /// Whether the answer must contain an id_token.
    var createsSession: Bool {
        switch self {
        case .client: false
        case .password(_, let createsSession): createsSession
        case .code: true
        }
    }

    /// E5 has no `authorization` and no `create-session`: it has no user (MAG checklist 13).
    func add(to headers: inout HTTPHeaders) {
        switch self {
        case .client: return
        case .password(let credentials, _): headers.set("authorization", credentials.basic)
        case .code(let code, let verifier, let redirectURI):
            headers.set("authorization", "Bearer " + code.exposedText())
            headers.set("code-verifier", verifier.exposedText())
            if let redirectURI { headers.set("redirect-uri", redirectURI) }
        }
        headers.set("create-session", createsSession ? "true" : "false")
    }
}
