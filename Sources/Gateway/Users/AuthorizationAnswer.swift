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

    /// The address of the gateway's login page, from the `Location` of a redirect (MAG 7.2).
    ///
    /// - Throws: ``AnswerFault``, or ``GatewayError/refused(_:)`` for an address that carries the gateway's error.
    static func page(_ location: String?) throws -> String {
        guard let location, location.utf8.count <= ProviderURL.limit else {
            throw AnswerFault("its address is missing or too long")
        }
        do throws(RedirectFault) {
            _ = try RedirectAnswer.code(in: location)
        } catch {
            if case .refused(let error, let text) = error {
                let number = location.firstRange(of: "x-ca-err=").map {
                    location[$0.upperBound...].prefix { $0 != "&" }
                }
                guard let code = Refusal.number(number.map(String.init)) else {
                    throw AnswerFault("it says \(text ?? error)")
                }
                throw GatewayError.refused(
                    Refusal(
                        operation: .beginAuthorization, status: 302, code: code, oauthError: error, text: text))
            }
        }
        guard let address = url(.string(location)) else { throw AnswerFault("it leads to an address without https") }
        return address
    }

    private static func url(_ element: JSON?) -> String? {
        guard let text = element?.string, text.utf8.count <= ProviderURL.limit, (try? HTTPSAddress(text)) != nil else {
            return nil
        }
        return text
    }

    /// The answer to a poll: without a code it is pending.
    ///
    /// Gateways before MAG 3.3 return no state at all, and their code is accepted, as the client for Android does. What
    /// protects it: the answer comes over TLS from the gateway's own address of this session, and the code is useless
    /// without the verifier, whose challenge the session was begun with. A state that is not this board's is refused,
    /// also an empty one.
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
        let value = SecretBytes(utf8: code)
        guard let state = answer["state"], state != .null else {
            return .code(AuthorizationCode(code: value, state: proof.state))
        }
        let returned = AuthorizationCode(code: value, state: SecretBytes(utf8: state.string ?? ""))
        guard returned.isFor(proof) else { throw GatewayError.authorizationStateMismatch }
        return .code(returned)
    }
}
