import Groundwork
import HTTPClient

/// The metadata that a server publishes (RFC 8414 section 2, OpenID Connect Discovery 1.0 section 3). Pure.
///
/// Addresses are as the server wrote them: the caller decides whether and how they may be called.
public struct ServerMetadata: Sendable, Equatable {
    /// A member that holds an address.
    public enum Endpoint: String, Sendable, CaseIterable {
        case authorization = "authorization_endpoint"
        case token = "token_endpoint"
        case keys = "jwks_uri"
        case registration = "registration_endpoint"
        case revocation = "revocation_endpoint"
        case introspection = "introspection_endpoint"
        case userInfo = "userinfo_endpoint"
        case deviceAuthorization = "device_authorization_endpoint"
        case endSession = "end_session_endpoint"
    }

    /// To be compared with the address of the document (RFC 8414 section 3.3), and with `iss` of an id_token.
    public let issuer: String?
    /// Whether every authorization answer names the issuer (RFC 9207 section 3).
    public let namesIssuerInAnswers: Bool
    /// How the server says that it signs id_tokens; empty if it does not say.
    public let idTokenAlgorithms: [String]
    /// How clients may authenticate at the token endpoint; Basic where the server does not say (RFC 8414 section 2).
    public let tokenAuthentications: [String]
    private let addresses: [Endpoint: String]
    /// The client authentications of the endpoints that have a list of their own.
    private let authentications: [Endpoint: [String]]

    /// - Throws: `AnswerFault` when the document is not a JSON object, or an address in it is not printable.
    public init(_ body: [UInt8]) throws(AnswerFault) {
        let answer = try JSONAnswer(body)
        var addresses: [Endpoint: String] = [:]
        for endpoint in Endpoint.allCases { addresses[endpoint] = try answer.plainText(endpoint.rawValue) }
        self.addresses = addresses
        var authentications: [Endpoint: [String]] = [:]
        for endpoint in [Endpoint.revocation, .introspection] {
            authentications[endpoint] = answer["\(endpoint.rawValue)_auth_methods_supported"]?.array?
                .compactMap(\.string)
        }
        self.authentications = authentications
        let ways = Self.texts(answer["token_endpoint_auth_methods_supported"])
        tokenAuthentications = ways.isEmpty ? ["client_secret_basic"] : ways
        idTokenAlgorithms = Self.texts(answer["id_token_signing_alg_values_supported"])
        issuer = try answer.plainText("issuer")
        namesIssuerInAnswers = answer["authorization_response_iss_parameter_supported"]?.bool ?? false
    }

    /// The first printable texts of a list.
    private static func texts(_ list: JSON?) -> [String] {
        (list?.array ?? []).prefix(32).compactMap(\.string).filter {
            HTTPHeaders.isPlainValue($0) && $0.utf8.count <= 64
        }
    }

    /// The address, if the server names one.
    public subscript(endpoint: Endpoint) -> String? { addresses[endpoint] }

    /// Whether an endpoint takes requests of clients that authenticate in this way, as far as the server says.
    public func takes(_ authentication: String, at endpoint: Endpoint) -> Bool {
        authentications[endpoint]?.contains(authentication) ?? true
    }

    /// - Throws: `AnswerFault` if the server names none.
    public func required(_ endpoint: Endpoint) throws(AnswerFault) -> String {
        guard let address = self[endpoint] else { throw AnswerFault("it has no \(endpoint.rawValue)") }
        return address
    }
}
