import AgentCore
import AgentGateway
import Cryptography
import FoundationEssentials
import Gateway
import Groundwork
import LocalAPI
import OAuth

/// Access tokens for local programs.
extension CallsFeature {
    package func addTokenRoutes(to router: inout Router) {
        let answer = Schema.object(
            [
                "accessToken": .string("token for an Authorization header of type Bearer").asSensitive,
                "expiresAt": .time(Schema.endOfToken), "scope": .string("scopes separated by blanks"),
                "as": .principal("whose token it is, at a gateway"),
            ], required: ["accessToken", "scope"])
        let parameters: [String: Schema] = ["as": .principal(Schema.whose), "scope": .additionalScope]
        router.on(
            "GET", "/v1/token", needs: .call,
            .init("A valid access token of the user or the device", query: parameters, answer: answer)
        ) { request in
            try self.authorizer.admit(request)
            let name = try request.accountName()
            return try await self.host.accounts.ability(\.tokens, of: name).token(
                of: request.query["as"], scope: request.query["scope"], refreshing: false, at: name, for: request)
        }
        router.on(
            "POST", "/v1/token/refresh", needs: .operate,
            .init("A new access token, even if the old one is still valid", body: parameters, answer: answer)
        ) { request in
            let body = RequestBody(request)
            let name = try request.accountName()
            return try await self.host.accounts.ability(\.tokens, of: name).token(
                of: try body.optionalString("as"), scope: try body.optionalString("scope"), refreshing: true, at: name,
                for: request)
        }
        router.on(
            "DELETE", "/v1/token", needs: .operate,
            .init(
                "End the access token of the device, at the gateway too; a user's ends with the logout",
                answer: .object(all: ["revoked": .boolean("whether it has ended")]))
        ) { request in
            try await self.gateways.account(of: request).session.revokeTokens()
            return .json(["revoked": true])
        }
    }
}

extension GatewayCalls: AccountTokens {
    package func token(
        of principal: String?, scope: String?, refreshing: Bool, at name: AccountName, for request: LocalRequest
    ) async throws -> LocalResponse {
        let permit = try await permit(request, tokenAs: try Principal(principal), scope: scope)
        return try await permit.run(of: authorizer.book) {
            try await self.token(by: permit, scope: scope, refreshing: refreshing)
        }
    }

    package func ownToken(scope: String?, lasting: Duration, at name: AccountName) async throws -> OwnToken {
        let session = try await gateways.account(name).session
        var token = try await session.accessToken(of: .board, scope: scope)
        if token.lifeLeft ?? lasting < lasting {
            token = try await session.accessToken(of: .board, scope: scope, refreshing: true)
        }
        return OwnToken(value: token.value, lifeLeft: token.lifeLeft)
    }

    private func token(
        by permit: CallAuthorization, scope: String?, refreshing: Bool
    ) async throws -> LocalResponse {
        let session = permit.link.session
        return try await session.acting(as: permit.principal, loggedInAt: permit.loggedInAt) { principal in
            let token = try await session.accessToken(
                of: principal, scope: scope, refreshing: refreshing, loggedInAt: permit.loggedInAt)
            return .json([
                "accessToken": .string(token.value.exposedText()),
                "expiresAt": .string(token.expiresAt.formatted(.iso8601)),
                "scope": .string(token.scope.sorted().joined(separator: " ")), "as": .string(principal.rawValue),
            ])
        }
    }
}

extension Principal {
    /// - Parameter text: as in a request; `nil` where it does not say.
    /// - Throws: ``AgentError/badRequest(member:fault:)``
    package init?(_ text: String?) throws(AgentError) {
        guard let text else { return nil }
        guard let principal = Principal(rawValue: text) else {
            throw .badRequest(member: "as", fault: "is neither board nor user")
        }
        self = principal
    }
}

extension Schema {
    package static func principal(_ meaning: String) -> Schema {
        string(meaning, choices: Principal.allCases.map(\.rawValue))
    }
}
