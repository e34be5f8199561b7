import AgentCore
import Cryptography
import FoundationEssentials
import Gateway
import Groundwork
import OAuth

/// Logins that a user completes in a browser, on another machine or on this one (MAG 7.2), or that end with a code for
/// the program that began them: a few at a time, in memory, because the session at the gateway lasts only minutes.
final actor BrowserLogins {
    private static let limit = 4

    /// What the browser shows.
    struct Choice: Sendable {
        /// One of the gateway's providers; `nil` for its own login, or the only one there is.
        var provider: String?
        /// Whether the gateway's own page is shown in place of a provider.
        var isPage = false
        /// Whether the caller only wants to know the providers.
        var isList = false
        /// Where a program of this machine waits for the browser.
        var loopbackPort: UInt16?
    }

    /// What a login is completed with.
    enum Completion: Sendable {
        /// The URL to which the browser was redirected last, with `code` and `state`.
        case answer(String)
        case code(String, state: String)
    }

    private struct Begun {
        let id: String
        let session: GatewaySession
        let authorization: AuthorizationSession
    }

    private var begun: [Begun] = []

    /// - Throws: `GatewayError`, ``AgentError/browserNotOffered``, ``AgentError/providerNotOffered(offered:)``
    func begin(_ choice: Choice, at session: GatewaySession) async throws -> JSON {
        let authorization = try await session.authorizationSession(
            choice.isPage ? .page : .providers, loopbackPort: choice.loopbackPort)
        guard !authorization.browserProviders.isEmpty || !choice.isList else { throw AgentError.browserNotOffered }
        let provider = choice.isList ? nil : try Self.choose(choice.provider, of: authorization)
        let id = Hex.encode(try Random.bytes(8))
        if begun.count == Self.limit { begun.removeFirst() }
        begun.append(Begun(id: id, session: session, authorization: authorization))
        var members: [String: JSON] = [
            "id": .string(id), "clientId": .string(authorization.clientID),
            "canPoll": .bool(authorization.proximity != nil), "takesPasswords": .bool(authorization.takesPasswords),
            "providers": .array(
                authorization.browserProviders.map { ["id": .string($0.id), "url": .string($0.authURL)] }),
        ]
        members["url"] = (provider?.authURL).map(JSON.string)
        members["provider"] = (provider?.id).map(JSON.string)
        members["redirectUri"] = authorization.redirectURI.map(JSON.string)
        return .object(members)
    }

    /// The named provider; without a name the gateway's own (`enterprise`), or the only one.
    static func choose(
        _ name: String?, of authorization: AuthorizationSession
    ) throws(AgentError) -> AuthenticationProvider {
        let offered = authorization.browserProviders
        // Login with another device needs no browser, but the code to scan can be shown in one.
        if let name,
            let found = (offered + [authorization.proximity].compactMap(\.self)).first(where: { $0.isNamed(name) })
        {
            return found
        }
        guard !offered.isEmpty else { throw .browserNotOffered }
        if name == nil, let found = offered.first(where: { $0.isNamed("enterprise") }) { return found }
        guard name == nil, offered.count == 1 else {
            throw .providerNotOffered(offered: offered.map { DisplayText.clean($0.id) })
        }
        return offered[0]
    }

    /// Completes a login.
    ///
    /// - Parameter active: the session of the active gateway; a login at a former gateway is refused.
    /// - Throws: ``AgentError/noSuchLogin(_:)``, ``AgentError/browserAnswerInvalid(reason:)``, `GatewayError`
    func end(_ id: String, by completion: Completion, at active: GatewaySession) async throws -> UserStatus {
        let logIn = try find(id, at: active)
        let code: AuthorizationCode
        switch completion {
        case .code(let value, let state):
            code = AuthorizationCode(code: SecretBytes(utf8: value), state: SecretBytes(utf8: state))
        case .answer(let answer):
            do {
                code = try Self.code(
                    in: answer, redirectURI: logIn.authorization.redirectURI, isOwn: logIn.authorization.hasState)
            } catch let error as AgentError {
                if case .browserAnswerInvalid(let reason) = error {
                    active.events.send(.authorizationDidFail(reason: reason))
                }
                throw error
            }
        }
        // Every page that a browser shows can send an answer to a port of this machine: it ends no other login.
        guard logIn.authorization.takes(code) else { throw GatewayError.authorizationStateMismatch }
        active.events.send(.authorizationDidArrive)
        remove(id)
        return try await logIn.session.logIn(with: code, of: logIn.authorization)
    }

    /// Asks the gateway once whether the login was completed elsewhere, such as on a phone.
    ///
    /// - Returns: the code; `nil` if it was not yet.
    /// - Throws: ``AgentError/noSuchLogin(_:)``, `GatewayError`
    func poll(_ id: String, at active: GatewaySession) async throws -> AuthorizationCode? {
        let logIn = try find(id, at: active)
        guard case .code(let code) = try await logIn.session.poll(logIn.authorization) else { return nil }
        return code
    }

    /// - Throws: ``AgentError/noSuchLogin(_:)``
    func cancel(_ id: String, at active: GatewaySession) throws(AgentError) {
        _ = try find(id, at: active)
        remove(id)
        active.events.send(.authorizationDidFail(reason: "it was canceled"))
    }

    private func find(_ id: String, at active: GatewaySession) throws(AgentError) -> Begun {
        guard let found = begun.first(where: { $0.id == id && $0.session === active }) else {
            throw .noSuchLogin(String(id.prefix(32)))
        }
        return found
    }

    private func remove(_ id: String) { begun.removeAll { $0.id == id } }

    /// - Throws: ``AgentError/browserAnswerInvalid(reason:)``, also with the error that the gateway sent to the
    ///   browser; `GatewayError.authorizationStateMismatch` for the answer to another login.
    static func code(
        in answer: String, redirectURI: String? = nil, isOwn: (SecretBytes) -> Bool = { _ in true }
    ) throws -> AuthorizationCode {
        do throws(RedirectFault) {
            return try RedirectAnswer.code(in: answer, redirectURI: redirectURI, isOwn: isOwn)
        } catch {
            guard error != .ofAnotherLogin else { throw GatewayError.authorizationStateMismatch }
            throw AgentError.browserAnswerInvalid(reason: error.reason)
        }
    }
}

extension RedirectFault {
    /// Completes a sentence about the address.
    fileprivate var reason: String {
        switch self {
        case .tooLong(let limit): "it is longer than \(limit) bytes"
        case .withoutQuery: "it has no query with code and state"
        case .elsewhere: "the gateway sends browsers to another address"
        case .unreadable: "its query cannot be read"
        case .withoutCode: "it has no code, or no state"
        case .ofAnotherLogin: "it belongs to another login"
        case .refused(let error, let text): "the gateway said \(text ?? error)"
        }
    }
}
