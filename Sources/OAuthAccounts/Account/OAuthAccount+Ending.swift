import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth

/// Giving up tokens, and the registration.
extension OAuthAccount {
    /// - Throws: ``OAuthAccountError/nobodyLoggedIn(account:)`` if there is nothing that a log-out could end,
    ///   `VaultError.levelLocked` if that is behind the vault's passcode.
    public func requireSession() throws {
        if let fault { throw fault }
        guard holding.user != nil || !holding.tokens.entries.isEmpty else {
            throw OAuthAccountError.nobodyLoggedIn(account: name)
        }
    }

    /// Revokes the tokens at the server, where it has an endpoint for that, and forgets them here.
    ///
    /// - Parameter force: forget them here even if the server does not answer.
    /// - Returns: who was logged in.
    @discardableResult
    public func logOut(force: Bool) async throws -> AccountUser? {
        let user = holding.user
        try await change { account in
            do {
                try await account.revokeAll()
            } catch  where force {}
            try await account.keep(AccountHolding())
        }
        return user
    }

    /// RFC 7009 section 2.1: the refresh token, with which servers end the access token too.
    private func revokeAll() async throws {
        guard server.endpoints[.revocation] != nil else { return }
        for entry in holding.tokens.entries {
            let form = FormBody([("token_type_hint", entry.refresh == nil ? "access_token" : "refresh_token")])
            let response = try await post(
                .revocation, form, [("token", entry.refresh ?? entry.access.value)])
            guard response.isSuccess else { throw Self.failure(response, of: Self.name(.revocation)) }
        }
    }

    /// Deletes the client at the server, if this board registered it (RFC 7592 section 2.3).
    func deregister() async throws { try await Self.deregister(server, by: client) }

    static func deregister(_ server: ServerConfiguration, by client: ServerClient) async throws {
        guard let address = server.registrationAddress, let token = server.registrationToken else { return }
        var request = try request("DELETE", address, server, judgedAt: client.clock)
        request.headers.set("Authorization", "Bearer \(token.exposedText())")
        let response = try await send(request, by: client, to: "registration_client_uri")
        // 401 is the answer where the client is gone already.
        guard response.isSuccess || [401, 404].contains(response.status) else {
            throw failure(response, of: "registration_client_uri")
        }
    }
}
