import Gateway
import Groundwork
import LocalAPI

/// People who log in on this board.
struct UsersFeature: Feature {
    func addRoutes(to router: inout Router, of agent: Agent) {
        router.addOfAccounts(defaultOnly: ["/v1/login/nearby"]) { agent.addUserRoutes(to: &$0) }
    }

    var statusMembers: [String: Schema] { ["user": .user] }

    func status(of agent: Agent) async throws -> [String: JSON] {
        guard let user = try await agent.link?.session.user() else { return [:] }
        return ["user": user.json(at: agent.time.now)]
    }
}
