import Cryptography
import Groundwork
import HTTPClient
import OAuth

/// How a log-in ends: E10, or E9 where there is no id_token (MAG 5.8, 5.9).
extension GatewaySession {
    /// Ends the log-in at the gateway, then here (12.4, logout). Registration, client credentials and the board's own tokens
    /// stay.
    ///
    /// - Parameter force: ends it here also where the gateway does not; what it said is thrown all the same.
    /// - Throws: ``GatewayError``; ``GatewayError/userRequired`` when nobody is logged in.
    public func logOut(force: Bool = false) async throws {
        try await operations.join(.logOut(force: force)) { try await self.endLogIn(force: force) }
    }

    private func endLogIn(force: Bool) async throws {
        guard let user = try await holdings().user else { throw GatewayError.userRequired }
        events.send(.userWillLogout(userName: user.name))
        do {
            try await endAtGateway(user.tokens)
        } catch let error as GatewayError {
            if force { try await removeUser() }
            events.send(.userDidFailToLogout(error))
            throw error
        }
        try await removeUser()
    }

    private func removeUser() async throws {
        var next = try await holdings()
        next.user = nil
        try await commit(next)
    }

    private func endAtGateway(_ tokens: HeldTokens) async throws {
        // Without either token there is nothing that the gateway could end.
        guard tokens.id != nil || tokens.refresh != nil else { return }
        try await initializeClientWhenDue()
        guard let client = try await holdings().client else { throw GatewayError.noGrantApplies }
        if let idToken = tokens.id {
            try await endSession(of: idToken, by: client)
        } else if let refreshToken = tokens.refresh {
            try await revoke(refreshToken, by: client)
        }
    }

    private func endSession(of idToken: HeldIDToken, by client: ClientCredentials) async throws {
        let form = FormBody([
            ("id_token_type", idToken.type), ("logout_apps", configuration.singleSignOn ? "true" : "false"),
        ])
        let request = try await request(
            "POST", .logout,
            headers: [
                "Content-Type": FormBody.contentType, "Accept": "application/json",
                "Authorization": client.authentication.basic,
            ], body: form.bytes(with: [("id_token", idToken.value)]))
        let response = try await succeed(request, for: .logOut)
        // Who takes a stranger's page for the gateway's word leaves a session open there.
        do {
            _ = try JSONAnswer(response.body)
        } catch {
            throw GatewayError.unexpectedAnswer(.logOut, status: 200, reason: error.reason)
        }
    }
}
