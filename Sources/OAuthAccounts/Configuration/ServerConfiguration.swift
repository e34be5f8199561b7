import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth
import Vault

/// What is known of a server and of this board's client there. It contains secrets: stored in the vault only.
public struct ServerConfiguration: Sendable {
    /// How the first token is obtained.
    public enum Grant: String, Sendable, CaseIterable {
        case authorizationCode = "authorization_code"
        case deviceCode = "device_code"
        case password
        case clientCredentials = "client_credentials"
        case jwtBearer = "jwt_bearer"
        case saml2Bearer = "saml2_bearer"
        /// Only if asked for by name: its tokens are in addresses (RFC 9700 section 2.1.2).
        case implicit
    }

    /// How the client authenticates, by the names of OpenID Connect Core section 9.
    public enum Authentication: String, Sendable, CaseIterable {
        case none
        case basic = "client_secret_basic"
        case post = "client_secret_post"
        case privateKey = "private_key_jwt"
    }

    /// The redirect URI unless another is given. A program of this machine may wait there, at a port of its own;
    /// otherwise a person copies the address.
    public static let presetRedirectURI = "http://127.0.0.1/callback"

    /// `nil` if the server was described without one: then its answers cannot be checked for it.
    public var issuer: String?
    public var clientID = ""
    public var secret: SecretBytes?
    /// When the server stops accepting the secret; `nil` means never.
    public var secretExpires: Date?
    public var authentication = Authentication.none
    /// The key that signs assertions.
    public var key: KeyReference?
    public var algorithm = JWS.Algorithm.ES256
    public var grant = Grant.authorizationCode
    /// Requested unless another is, with blanks between.
    public var scope = ""
    public var redirectURI = Self.presetRedirectURI
    public var endpoints: [ServerMetadata.Endpoint: String] = [:]
    public var namesIssuerInAnswers = false
    /// PEM certificates at which the server's chain may end; `nil` means the system's.
    public var authorities: String?
    /// Where tokens may be sent by ``OAuthAccount/call(_:_:headers:body:)``; the first is the base of paths.
    public var resources: [String] = []
    /// In whose name assertions are made with the key; `nil` means the client's own.
    public var subject: String?
    /// Whom assertions are for, if a person has said so.
    public var audience: String?
    /// Whether the assertions by which the client authenticates are for the issuer, which only that server takes, and
    /// not for its token endpoint.
    var isIssuerAudience = false
    /// Manages a registration that the board made (RFC 7592).
    public var registrationToken: SecretBytes?
    public var registrationAddress: String?

    public init() {}

    /// Whether tokens are obtained without a person.
    public var isUnattended: Bool { grant == .clientCredentials || grant == .jwtBearer && key != nil }

    /// How id_tokens may be signed. The secret signs only where there is one; without it only a published key can have
    /// signed.
    var idTokenAlgorithms: Set<JWS.Algorithm> {
        secret == nil ? JWS.Algorithm.ofPublicKeys : JWS.Algorithm.ofPublicKeys.union([.HS256])
    }

    /// Whether OpenID Connect is spoken, so that id_tokens come.
    var isOpenID: Bool { Scope.words(scope).contains("openid") }

    /// - Throws: ``OAuthAccountError/configurationInvalid(reason:)``
    func check() throws(OAuthAccountError) {
        func refuse(_ reason: String) -> OAuthAccountError { .configurationInvalid(reason: reason) }
        guard HTTPHeaders.isPlainValue(clientID) else { throw refuse("the client id is missing or not printable") }
        guard scope.utf8.count <= 4096, scope.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw refuse("the scope is not printable")
        }
        if let audience, !HTTPHeaders.isPlainValue(audience) { throw refuse("the audience is not printable") }
        for (endpoint, text) in endpoints where WebAddress(text) == nil {
            throw refuse("\(endpoint.rawValue) is neither an https address nor one of this machine")
        }
        for resource in resources where WebAddress(resource) == nil {
            throw refuse("a resource is neither an https address nor one of this machine")
        }
        switch authentication {
        case .basic, .post:
            guard secret != nil else { throw refuse("\(authentication.rawValue) needs a client secret") }
        case .privateKey: guard key != nil else { throw refuse("private_key_jwt needs a key") }
        case .none:
            guard grant != .clientCredentials else { throw refuse("client_credentials needs a secret or a key") }
        }
        for endpoint in neededEndpoints where endpoints[endpoint] == nil {
            throw refuse("the grant \(grant.rawValue) needs the \(endpoint.rawValue)")
        }
        guard redirectURI.utf8.count <= 2048, (try? HTTPSAddress.checkCharacters(redirectURI)) != nil,
            redirectURI.contains("://")
        else { throw refuse("the redirect URI is not an address") }
        _ = try security
    }

    /// How the servers must prove themselves. Those of this machine, the only ones without TLS, need not (``WebAddress``).
    ///
    /// - Throws: ``OAuthAccountError/configurationInvalid(reason:)``
    var security: ServerSecurity {
        get throws(OAuthAccountError) {
            do throws(CryptographyError) {
                return try ServerSecurity(authorities: authorities, allowsPlain: true)
            } catch {
                throw .configurationInvalid(reason: "the authorities are not certificates in PEM: \(error.reason)")
            }
        }
    }

    var neededEndpoints: [ServerMetadata.Endpoint] {
        switch grant {
        case .authorizationCode: [.authorization, .token]
        case .implicit: [.authorization]
        case .deviceCode: [.deviceAuthorization, .token]
        case .password, .clientCredentials, .jwtBearer, .saml2Bearer: [.token]
        }
    }
}
