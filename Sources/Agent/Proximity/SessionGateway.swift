import Gateway
import Proximity

/// The gateway session as proximity log-in needs it.
struct SessionGateway: ProximityGateway {
    let session: GatewaySession

    func requireUserSession() async throws {
        guard try await session.user() != nil else { throw GatewayError.userRequired }
    }

    func checkOrigin(_ providerURL: String) throws { try session.checkOrigin(of: providerURL) }

    func authorize(_ providerURL: String) async throws { try await session.authorize(providerURL: providerURL) }

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
