import FoundationEssentials
import Groundwork

/// Asks people to log in at a session, and returns once a user has.
///
/// Its second parameter is the name of the user whose login the gateway has ended; `nil` if any user will do. It throws
/// when no user logs in.
public typealias UserDemand = @Sendable (_ session: GatewaySession, _ userName: String?) async throws -> Void

/// Login on demand: a call that needs a user waits for a login in place of failing.
extension GatewaySession {
    /// Does work, and once more after a login if it failed for the lack of a user.
    ///
    /// Work that began for one user is never done for another: if the gateway ended a login meanwhile, the same user
    /// has to come back.
    ///
    /// - Parameter date: when the user logged in; only work for the current user, no matter which, may wait for one.
    func demandingUser<Value: Sendable>(
        for need: Need, loggedInAt date: Date?, _ work: () async throws -> Value
    ) async throws -> Value {
        guard need.principal == .user, date == nil else { return try await work() }
        let before = try await store.holdings().user
        do {
            return try await work()
        } catch GatewayError.userRequired {
            try await demandUser(after: before)
            return try await work()
        }
    }

    private func demandUser(after before: HeldUser?) async throws {
        guard try await store.holdings().user == nil else { throw GatewayError.userRequired }
        events.send(.userAuthenticationIsRequired)
        guard let userDemand, before == nil || before?.name != nil else { throw GatewayError.userRequired }
        try await userDemand(self, before?.name)
        guard let user = try await store.holdings().user, before == nil || before?.name == user.name else {
            throw GatewayError.userRequired
        }
    }
}
