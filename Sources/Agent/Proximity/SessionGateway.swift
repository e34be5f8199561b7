import FoundationEssentials
import Gateway
import Proximity

/// The gateway session as proximity log-in needs it.
struct SessionGateway: ProximityGateway {
    let session: GatewaySession
    /// When the user logged in whose session lets others in; `nil` where nobody is let in. Whoever logs in later has not agreed
    /// to anything.
    var logIn: Date?

    func requireUserSession() async throws {
        guard let user = try await session.user(), let logIn, Self.isSame(user.loggedInAt, logIn) else {
            throw GatewayError.userRequired
        }
    }

    /// A date that was stored in between has lost its last bits.
    private static func isSame(_ one: Date, _ other: Date) -> Bool { abs(one.timeIntervalSince(other)) < 0.001 }

    func checkOrigin(_ providerURL: String) throws { try session.checkOrigin(of: providerURL) }

    func authorize(_ providerURL: String) async throws {
        try await requireUserSession()
        try await session.authorize(providerURL: providerURL)
    }

    func beginAuthorization() async throws -> PendingAuthorization {
        let authorization = try await session.authorizationSession()
        guard let provider = authorization.proximity else { throw GatewayError.proximityNotOffered }
        return PendingAuthorization(authURL: provider.authURL) { [session] in
            switch try await session.poll(authorization) {
            case .pending: return .pending
            case .code(let code):
                return .authorized { try await session.logIn(with: code, of: authorization).userName ?? "a user without a name" }
            }
        }
    }
}

extension SessionGateway {
    /// For whoever is logged in now.
    ///
    /// - Throws: `ProximityError.noUserSession`, what the vault throws
    init(ofUserAt session: GatewaySession) async throws {
        guard let user = try await session.user() else {
            throw ProximityError.noUserSession(reason: GatewayError.userRequired.message)
        }
        self.init(session: session, logIn: user.loggedInAt)
    }
}
