import Cryptography
import Groundwork
import HTTPClient
import OAuth

/// Parses the answers of an authorization session (MAG 7.1, 7.3). Pure.
enum AuthorizationAnswer {
    /// The maximum number of providers that are read.
    static let providerLimit = 64

    /// The provider list. A provider whose URLs are not `https` is left out.
    ///
    /// - Throws: the reason, without any values.
    static func session(
        _ body: [UInt8], proof: ProofKey, clientID: String
    ) throws(AnswerFault) -> AuthorizationSession {
        let answer = try JSONAnswer(body)
        let idp = try answer.requiredPlainText("idp")
        guard let elements = answer["providers"]?.array else { throw AnswerFault("it has no list of providers") }
        let providers = elements.prefix(providerLimit).compactMap { provider($0["provider"]) }
        return AuthorizationSession(idp: idp, providers: providers, proof: proof, clientID: clientID)
    }

    private static func provider(_ element: JSON?) -> AuthenticationProvider? {
        guard let element, let id = element["id"]?.string, HTTPHeaders.isPlainValue(id),
            let authURL = url(element["auth_url"])
        else { return nil }
        return AuthenticationProvider(id: id, authURL: authURL, pollURL: url(element["poll_url"]))
    }

    private static func url(_ element: JSON?) -> String? {
        guard let text = element?.string, text.utf8.count <= ProviderURL.limit, (try? HTTPSAddress(text)) != nil else {
            return nil
        }
        return text
    }

    /// The answer to a poll: without a code it is pending.
    ///
    /// - Throws: ``AnswerFault``, or ``GatewayError/authorizationStateMismatch`` for a code of another session (MAG
    ///   checklist 33).
    static func poll(_ body: [UInt8], proof: ProofKey) throws -> PollAnswer {
        guard !body.isEmpty else { return .pending }
        let answer = try JSONAnswer(body)
        guard let code = answer["code"], code != .null, code != "" else { return .pending }
        guard let code = code.string, HTTPHeaders.isPlainValue(code) else {
            throw AnswerFault("its code is not printable")
        }
        let returned = AuthorizationCode(
            code: SecretBytes(utf8: code), state: SecretBytes(utf8: answer["state"]?.string ?? ""))
        guard returned.isFor(proof) else { throw GatewayError.authorizationStateMismatch }
        return .code(returned)
    }
}
