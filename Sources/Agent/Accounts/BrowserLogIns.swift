import Cryptography
import FoundationEssentials
import Gateway
import Groundwork
import OAuth

/// Logins that a user completes in a browser on another machine (MAG 7.2): a few at a time, in memory, because the
/// session at the gateway lasts only minutes.
final actor BrowserLogIns {
    private static let limit = 4

    private struct Begun {
        let id: String
        let session: GatewaySession
        let authorization: AuthorizationSession
    }

    private var begun: [Begun] = []

    /// - Throws: `GatewayError`, also if the gateway offers no browser login.
    func begin(at session: GatewaySession) async throws -> JSON {
        let authorization = try await session.authorizationSession()
        guard let provider = authorization.providers.first(where: { $0.pollURL == nil }) else {
            throw AgentError.browserNotOffered
        }
        let id = Hex.encode(try Random.bytes(8))
        if begun.count == Self.limit { begun.removeFirst() }
        begun.append(Begun(id: id, session: session, authorization: authorization))
        return ["id": .string(id), "url": .string(provider.authURL), "provider": .string(provider.id)]
    }

    /// - Parameters:
    ///   - answer: the URL to which the browser was redirected last, with `code` and `state`.
    ///   - active: the session of the active gateway; a login at a former gateway is refused.
    func end(_ id: String, answer: String, at active: GatewaySession) async throws -> UserStatus {
        guard let index = begun.firstIndex(where: { $0.id == id && $0.session === active }) else {
            throw AgentError.noSuchLogIn(String(id.prefix(32)))
        }
        let logIn = begun[index]
        let code = try Self.code(in: answer, redirectURI: active.configuration.redirectURI)
        begun.remove(at: index)
        return try await logIn.session.logIn(with: code, of: logIn.authorization)
    }

    /// - Throws: ``AgentError/browserAnswerInvalid(reason:)``, also with the error that the gateway sent to the
    ///   browser.
    static func code(in answer: String, redirectURI: String? = nil) throws(AgentError) -> AuthorizationCode {
        do {
            return try RedirectAnswer.code(in: answer, redirectURI: redirectURI)
        } catch {
            throw .browserAnswerInvalid(reason: error.reason)
        }
    }
}

extension RedirectFault {
    /// Completes a sentence about the address.
    fileprivate var reason: String {
        switch self {
        case .tooLong(let limit): "it is longer than \(limit) bytes"
        case .withoutQuery: "it has no query with code and state"
        case .elsewhere: "the gateway leads browsers to another address"
        case .unreadable: "its query cannot be read"
        case .withoutCode: "it has no code, or no state"
        case .refused(let error, let text): "the gateway said \(text ?? error)"
        }
    }
}
