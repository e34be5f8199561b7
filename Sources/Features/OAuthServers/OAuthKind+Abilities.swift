import AgentCore
import Cryptography
import Groundwork
import HTTPClient
import LocalAPI
import OAuth
import OAuthAccounts
import Prompts

extension OAuthKind: AccountUsers {
    func user(at name: AccountName) async throws -> JSON { await user(of: try await account(name)) }

    func profile(at name: AccountName) async throws -> JSON { try await account(name).userInfo() }

    func question(
        for userName: String, at name: AccountName, answerers: PromptQuestion.Answerers
    ) async throws -> PromptQuestion {
        _ = try await account(name)
        return .password(of: userName, answerers)
    }

    func logIn(_ userName: String, _ secret: SecretBytes, scope: String?, at name: AccountName) async throws -> JSON {
        let account = try await account(name)
        _ = try await account.logIn(userName: userName, password: secret, scope: scope)
        return await user(of: account)
    }

    func faultOfSecret(_ error: any Error) -> String? {
        guard case .refused(_, let refusal) = error as? OAuthAccountError, refusal.code == .invalidGrant else {
            return nil
        }
        return Explanation(of: error).message
    }

    func logOut(force: Bool?, allPrograms: Bool?, at name: AccountName) async throws -> JSON {
        guard allPrograms == nil else { throw AgentError.onlyAtGateway("allPrograms") }
        let account = try await account(name)
        try await account.requireSession()
        let user = try await account.logOut(force: force ?? !host.settings[LoginSettings.self].keepUserOnError)
        return ["loggedIn": false, "userName": user?.name.map(JSON.string) ?? .null]
    }
}

extension OAuthKind: AccountBrowsers {
    func begin(_ body: RequestBody, at name: AccountName) async throws -> JSON {
        let ofGateways = ["provider", "page", "list", "picture"]
        if let member = ofGateways.first(where: { body[$0] ?? .null != .null }) {
            throw AgentError.onlyAtGateway(member)
        }
        let account = try await account(name)
        let begun = try await account.beginBrowser(
            scope: try body.optionalString("scope"), loopbackPort: try body.loopbackPort())
        let server = await account.server
        return [
            "id": .string(begun.id), "url": .string(begun.url), "provider": .string(server.issuer ?? server.clientID),
            "redirectUri": .string(begun.redirectURI),
        ]
    }

    func end(_ id: String, _ body: RequestBody, at name: AccountName) async throws -> JSON {
        let account = try await account(name)
        _ = try await account.endBrowser(id, answer: try body.string("answer"))
        return await user(of: account)
    }

    func cancel(_ id: String, at name: AccountName) async throws { try await account(name).cancelBrowser(id) }
}

extension OAuthKind: AccountTokens {
    func token(
        of principal: String?, scope: String?, refreshing: Bool, at name: AccountName, for request: LocalRequest
    ) async throws -> LocalResponse {
        try request.checkMayOperate()
        guard principal == nil else { throw AgentError.onlyAtGateway("as") }
        guard !refreshing else { throw AccountError.otherKind(name, kind: self.name) }
        return .json(try await account(name).token(scope: scope).json)
    }

    func ownToken(scope: String?, lasting: Duration, at name: AccountName) async throws -> OwnToken {
        let token = try await account(name).token(scope: scope, lasting: lasting)
        return OwnToken(value: token.value, lifeLeft: token.lifeLeft)
    }
}

extension OAuthKind: AccountCalls {
    func answer(_ asked: CallRequest, at name: AccountName, for request: LocalRequest) async throws -> LocalResponse {
        try request.checkMayOperate()
        let response = try await call(asked, at: name)
        try asked.checkType(ofAnswer: response.status, response.headers, isEmpty: response.body.isEmpty)
        return .json(.object(response.wholeReport()))
    }

    func stream(_ asked: CallRequest, at name: AccountName, for request: LocalRequest) async throws -> LocalResponse {
        try request.checkMayOperate()
        let answer = try await call(asked, at: name)
        try asked.checkType(ofAnswer: answer.status, answer.headers, isEmpty: answer.body.isEmpty)
        return .stream { try await answer.write(to: $0) }
    }

    /// - Throws: ``AgentError/badRequest(member:fault:)`` and what a call throws
    private func call(_ asked: CallRequest, at name: AccountName) async throws -> HTTPResponse {
        let ofGateways = [
            ("as", asked.principal != nil), ("upload", asked.uploadLength != nil),
            ("timeoutSeconds", asked.timeout != nil), ("sign", asked.signing != nil),
            ("public", asked.isPublic),
        ]
        if let (member, _) = ofGateways.first(where: \.1) { throw AgentError.onlyAtGateway(member) }
        return try await account(name).call(
            asked.method, asked.path, headers: asked.headers, body: asked.body, scope: asked.scope)
    }
}
