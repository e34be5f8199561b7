import AgentCore
import AgentGateway
import Cryptography
import Gateway
import Groundwork
import LocalAPI
import OAuth
import Prompts
import Proximity

/// People who log in at accounts at gateways.
struct GatewayUsers: AccountUsers {
    let gateways: GatewayAccounts
    let browserLogins: BrowserLogins

    private var host: Host { gateways.host }

    private func session(_ name: AccountName) async throws -> GatewaySession {
        try await gateways.account(name).session
    }

    /// Who is logged in, whether calls can be made at all, and in whose name (MAG 13.1).
    func user(at name: AccountName) async throws -> JSON {
        let session = try await session(name)
        let user = try await session.user()
        let lock = try await session.lockStatus()
        var members =
            lock?.json(host.settings.unlockPolicy).object ?? user?.json(at: host.time.now).object ?? [
                "loggedIn": false
            ]
        if try await session.userFault() != nil { members["hidden"] = true }
        members["status"] = .string(
            lock != nil ? "locked" : Authentication(try await session.status()).rawValue)
        members["flow"] = .string(host.settings[UserSettings.self].flow)
        return .object(members)
    }

    func profile(at name: AccountName) async throws -> JSON { try await session(name).userInfo() }

    func question(
        for userName: String, at name: AccountName, answerers: PromptQuestion.Answerers
    ) async throws -> PromptQuestion {
        try await session(name).requireUnlocked()
        return .password(of: userName, answerers)
    }

    func logIn(_ userName: String, _ secret: SecretBytes, scope: String?, at name: AccountName) async throws -> JSON {
        try Self.refuse(scope)
        return try await session(name).logIn(userName: userName, password: secret).json(at: host.time.now)
    }

    func faultOfSecret(_ error: any Error) -> String? {
        guard case .refused(let refusal) = error as? GatewayError, refusal.meaning == .userCredentialsInvalid else {
            return nil
        }
        return Explanation(of: error).message
    }

    func logOut(force: Bool?, allPrograms: Bool?, at name: AccountName) async throws -> JSON {
        let session = try await session(name)
        let user = try await session.user()?.userName
        try await session.logOut(
            force: force ?? !host.settings[LoginSettings.self].keepUserOnError, allPrograms: allPrograms)
        return ["loggedIn": false, "userName": user.map(JSON.string) ?? .null]
    }

    /// A gateway's scope is decided by its configuration.
    ///
    /// - Throws: ``AgentError/badRequest(member:fault:)``
    private static func refuse(_ scope: String?) throws(AgentError) {
        guard scope == nil else {
            throw .badRequest(member: "scope", fault: "requires an account at an OAuth server")
        }
    }
}

extension GatewayUsers: AccountBrowsers {
    func begin(_ body: RequestBody, at name: AccountName) async throws -> JSON {
        try Self.refuse(try body.optionalString("scope"))
        var choice = BrowserLogins.Choice(
            provider: try body.optionalString("provider"), isPage: try body.bool("page", default: false),
            isList: try body.bool("list", default: false), loopbackPort: try body.loopbackPort())
        if choice.isPage {
            guard host.settings[UserSettings.self].page else { throw AgentError.pageNotEnabled }
            choice.provider = nil
        }
        let begun = try await browserLogins.begin(choice, at: try await session(name))
        guard try body.bool("picture", default: false), let url = begun["url"]?.string else { return begun }
        return .object(begun.object?.merging(["picture": try QRCode(url).json(of: url)]) { own, _ in own } ?? [:])
    }

    func end(_ id: String, _ body: RequestBody, at name: AccountName) async throws -> JSON {
        let session = try await session(name)
        guard try body.bool("poll", default: false) else {
            let completion: BrowserLogins.Completion =
                if let code = try body.optionalString("code") { .code(code, state: try body.string("state")) } else {
                    .answer(try body.string("answer"))
                }
            return try await browserLogins.end(id, by: completion, at: session).json(at: host.time.now)
        }
        guard let code = try await browserLogins.poll(id, at: session) else { return ["loggedIn": false] }
        let (value, state) = (code.value.exposedText(), code.state.exposedText())
        if try body.bool("hand", default: false) {
            return ["loggedIn": false, "code": .string(value), "state": .string(state)]
        }
        return try await browserLogins.end(id, by: .code(value, state: state), at: session)
            .json(at: host.time.now)
    }

    func cancel(_ id: String, at name: AccountName) async throws {
        try await browserLogins.cancel(id, at: try await session(name))
    }
}
