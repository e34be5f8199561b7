public import FoundationEssentials
import Groundwork
public import OAuth

/// Tokens for local programs.
extension GatewaySession {
    /// Whose token serves a program that does not say: the user's while one is logged in, else that of the flow (MAG
    /// 6.2). A locked session is still the user's, so that such programs are refused.
    ///
    /// - Throws: what the vault throws.
    public func principal() async throws -> Principal {
        let held = try await store.holdings()
        return held.user == nil && held.userFault == nil && held.lock == nil ? flow : .user
    }

    /// Does something on behalf of a principal; if none is named, of the one that suits the request.
    ///
    /// Work in the name of a user waits for a login where no user is logged in, if one may be asked for it.
    ///
    /// - Parameters:
    ///   - named: without it, unless the flow demands a user, work that finds that the user's login has ended is done
    ///     in the board's name: as it would have been a moment later.
    ///   - date: when the user logged in, if `work` is for no other: then it does not wait for a login.
    public func acting<Value: Sendable>(
        as named: Principal?, loggedInAt date: Date? = nil, _ work: (Principal) async throws -> Value
    ) async throws -> Value {
        if let principal = named ?? (flow == .user ? .user : nil) {
            return try await demandingUser(for: Need(principal: principal), loggedInAt: date) {
                try await work(principal)
            }
        }
        let principal = try await principal()
        do {
            return try await work(principal)
        } catch GatewayError.userRequired {
            guard principal == .user, try await self.principal() == .board else { throw GatewayError.userRequired }
            return try await work(.board)
        }
    }

    /// A valid access token.
    ///
    /// - Parameters:
    ///   - scope: scopes needed beyond the configured ones, separated by blanks.
    ///   - refreshing: whether to obtain a new one, though the old one is still valid.
    ///   - date: when the user logged in whose token it is; `nil` for the current user.
    /// - Throws: ``GatewayError``; ``GatewayError/userRequired`` for a user's when none is logged in.
    public func accessToken(
        of principal: Principal, scope: String?, refreshing: Bool = false, loggedInAt date: Date? = nil
    ) async throws -> AccessToken {
        let need = Need(principal: principal, scope: scope)
        if principal == .user { try await calls.user(loggedInAt: date) }
        if refreshing {
            // A user whose only token is dropped is logged out.
            let held = try await store.holdings()[principal]
            guard principal == .board || held.refresh != nil || held.id != nil else {
                throw GatewayError.noGrantApplies
            }
            try await operations.recover(.dropAccessToken, of: principal, since: store.state().revision)
        }
        let held = try await operations.ready(for: need).holdings
        if principal == .user, let date, held.user?.isLogin(of: date) != true { throw GatewayError.userRequired }
        guard let token = held[principal].access else {
            throw principal == .user ? GatewayError.userRequired : .noGrantApplies
        }
        return token.token(at: store.clocks.date(), uptime: store.clocks.uptime())
    }
}
