import Cryptography
import Groundwork
import HTTPClient

/// Who authorizes a registration; determines its endpoint and its data about the user (MAG 4.1, 4.3). Pure.
enum RegistrationVoucher: Sendable {
    /// Endpoint E5, with the client's credentials only.
    case client
    /// Endpoint E4.
    case password(UserCredentials, createsSession: Bool)
    /// Endpoint E4. Without a session the code gives no login: it is used up.
    case code(SecretBytes, verifier: SecretBytes?, redirectURI: String?, createsSession: Bool = true)
    /// Endpoint E4, by a JWT from outside.
    case assertion(UserAssertion, createsSession: Bool)

    var endpoint: GatewayEndpoint {
        switch self {
        case .client: .registerClient
        case .password, .code, .assertion: .registerUser
        }
    }

    /// `CN` of the certificate request, of at most 64 characters (RFC 5280, ub-common-name).
    var commonName: String {
        switch self {
        case .client: "clientName"
        case .password(let credentials, _): String(String.UnicodeScalarView(credentials.name.unicodeScalars.prefix(64)))
        case .code, .assertion: "socialLogin"
        }
    }

    /// Whether the answer must contain an id_token.
    var createsSession: Bool {
        switch self {
        case .client: false
        case .password(_, let createsSession), .code(_, _, _, let createsSession), .assertion(_, let createsSession):
            createsSession
        }
    }

    /// E5 has no `authorization` and no `create-session`: it has no user (MAG checklist 13).
    func add(to headers: inout HTTPHeaders) {
        switch self {
        case .client: return
        case .password(let credentials, _): headers.set("authorization", credentials.basic)
        case .code(let code, let verifier, let redirectURI, _):
            headers.set("authorization", "Bearer " + code.exposedText())
            if let verifier { headers.set("code-verifier", verifier.exposedText()) }
            if let redirectURI { headers.set("redirect-uri", redirectURI) }
        case .assertion(let assertion, _):
            headers.set("authorization", "Bearer " + assertion.token.exposedText())
            headers.set("x-authorization-type", assertion.type)
        }
        headers.set("create-session", createsSession ? "true" : "false")
    }
}
