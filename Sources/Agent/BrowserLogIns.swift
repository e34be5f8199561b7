import Cryptography
import FoundationEssentials
import Gateway
import Groundwork
import OAuth

/// Log-ins whose other half happens in a browser on another machine (MAG 7.2): a few at a time, in memory, as
/// the session at the gateway lives for minutes only.
actor BrowserLogIns {
    private static let limit = 4

    private struct Begun {
        let id: String
        let session: GatewaySession
        let authorization: AuthorizationSession
    }

    private var begun: [Begun] = []

    /// - Throws: `GatewayError`, also when the gateway offers no log-in in a browser.
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
    ///   - answer: where the browser was led to in the end: the redirect address, with `code` and `state`.
    ///   - active: of the gateway that is active now; nobody logs in at one that the board has left.
    func end(_ id: String, answer: String, at active: GatewaySession) async throws -> UserStatus {
        guard let index = begun.firstIndex(where: { $0.id == id && $0.session === active }) else {
            throw AgentError.noSuchLogIn(String(id.prefix(32)))
        }
        let logIn = begun[index]
        let code = try Self.code(in: answer, redirectURI: active.configuration.redirectURI)
        begun.remove(at: index)
        return try await logIn.session.logIn(with: code, of: logIn.authorization)
    }

    /// - Throws: ``AgentError/browserAnswerInvalid(reason:)``, also with what the gateway told the browser.
    static func code(in answer: String, redirectURI: String? = nil) throws(AgentError) -> AuthorizationCode {
        do {
            return try RedirectAnswer.code(in: answer, redirectURI: redirectURI)
        } catch {
            throw .browserAnswerInvalid(reason: error.reason)
        }
    }
}

extension RedirectFault {
    /// Continues a sentence about the address.
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
