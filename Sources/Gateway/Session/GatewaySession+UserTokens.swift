import FoundationEssentials
import OAuth

/// The logged-in user's access token, for connections in the user's name (MAG 9.1).
extension GatewaySession {
    /// A valid access token of the user who logged in at `date`.
    ///
    /// - Throws: ``GatewayError``; ``GatewayError/userRequired`` when no user or another user is logged in.
    public func accessToken(ofUserLoggedInAt date: Date) async throws -> AccessToken {
        let need = Need(principal: .user)
        try await calls.user(loggedInAt: date)
        let held = try await operations.ready(for: need).holdings
        try held.requireUnlocked()
        guard let user = held.user, user.isLogin(of: date), let token = user.tokens.access else {
            throw GatewayError.userRequired
        }
        return token.token(at: store.clocks.date(), uptime: store.clocks.uptime())
    }

    /// Drops the user's access token after a server refused it; the next use obtains another. The refresh token stays.
    public func dropUserAccessToken() async throws {
        try await operations.recover(.dropAccessToken, of: .user, since: store.state().revision)
    }
}
