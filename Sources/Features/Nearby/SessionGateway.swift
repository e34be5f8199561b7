import AgentCore
import FoundationEssentials
import Gateway
import Groundwork
import Proximity

/// The gateway session, adapted to proximity login.
package struct SessionGateway: ProximityGateway {
    package let session: GatewaySession
    /// Login time of the user whose session lets others in; `nil` if none are let in. A user who logs in later has not
    /// agreed to anything.
    package var logIn: Date?
    /// The user who has to let this board in; `nil` for any user.
    package var expectedUser: String?

    @discardableResult
    package func requireUserSession() async throws -> String? {
        guard let logIn else { throw GatewayError.userRequired }
        return try await session.user(loggedInAt: logIn).userName
    }

    package func checkOrigin(_ providerURL: String) throws { try session.checkOrigin(of: providerURL) }

    package func sessionIdentifier(in providerURL: String) async throws -> String {
        do {
            return try await session.sessionIdentifier(in: providerURL)
        } catch let error as GatewayError {
            switch error {
            case .providerURLInvalid, .providerURLForeign:
                throw ProximityError.invalidAuthorizeURL(reason: error.message)
            default: throw error
            }
        }
    }

    package func authorize(_ providerURL: String) async throws {
        guard let logIn else { throw GatewayError.userRequired }
        try await session.authorize(providerURL: providerURL, loggedInAt: logIn)
    }

    package func beginAuthorization() async throws -> PendingAuthorization {
        let wasRegistered = try await session.status().registration != .unregistered
        let authorization = try await session.authorizationSession()
        guard let provider = authorization.proximity else { throw GatewayError.proximityNotOffered }
        return PendingAuthorization(authURL: provider.authURL) { [session, expectedUser] in
            switch try await session.poll(authorization) {
            case .pending: return .pending
            case .code(let code):
                return .authorized {
                    let user = try await session.logIn(with: code, of: authorization).userName
                    if let expectedUser, user != expectedUser {
                        // Nothing of it remains, at the gateway either: neither the login nor a registration that came
                        // with it.
                        try? await session.logOut(force: true)
                        if !wasRegistered { try? await session.deregister() }
                        throw ProximityError.unexpectedUser(name: user)
                    }
                    return user ?? "a user without a name"
                }
            }
        }
    }
}

extension SessionGateway {
    /// For the user who is logged in now.
    ///
    /// - Throws: `ProximityError.noUserSession`, what the vault throws
    package init(ofUserAt session: GatewaySession) async throws {
        try await session.requireUnlocked()
        guard let user = try await session.user() else {
            throw ProximityError.noUserSession(reason: GatewayError.userRequired.message)
        }
        self.init(session: session, logIn: user.loggedInAt)
    }
}
