import Connectivity
import FoundationEssentials
import Gateway
import Groundwork
import LocalAPI

/// The network that this board is in, and whether its gateway is reachable.
struct NetworkFeature: Feature {
    init(_ host: Host) {}

    func services(of agent: Agent) -> [any Service] {
        let (changes, events) = (agent.network.monitor.changes.subscribe(), agent.events.subscribe())
        agent.network.start(at: agent.time.now)
        return [
            agent.restarting("network") { await agent.followNetwork(changes) },
            agent.restarting("reachability") { await agent.followReach(events) },
        ]
    }

    // Its check is the first of the gateway's: what ails the network ails all that follow.
    func examine(_ agent: Agent, into state: inout AgentState) async throws {
        state.network = agent.network.monitor.state
    }

    static var statusMembers: [String: Schema] {
        [
            "network": .object(
                [
                    "state": .string("of this machine", choices: ["unknown", "none", "connected"]),
                    "interface": .string("the link by which others are reached"),
                    "kind": .choice("of the link", of: NetworkWay.Kind.self),
                    "gateway": .string(
                        "by the last answer over this network, and by the broker's connection",
                        choices: GatewayReach.names),
                    "since": .time("since when there is no network"),
                ], required: ["state", "gateway"], "The network, as the kernel reports it")
        ]
    }

    func status(of agent: Agent) async throws -> [String: JSON] {
        let reach = try await agent.gatewayReach()
        var network: [String: JSON] = ["gateway": .string((reach ?? .unknown).name)]
        var members: [String: JSON] = [:]
        switch agent.network.monitor.state {
        case .unknown: network["state"] = "unknown"
        case .way(let way):
            network["state"] = "connected"
            network.merge(way.fields) { own, _ in own }
        case .none:
            network["state"] = "none"
            let since = JSON.string(agent.network.since.formatted(.iso8601))
            network["since"] = since
            // Whatever failed since, this is why.
            if let host = await agent.link?.gateway.identity.host, agent.network.isCutOff(from: host) {
                members["lastError"] = .object(
                    Explanation(of: NetworkError.noNetwork).members.merging(["time": since]) { own, _ in own })
            }
        }
        if case .reachable(let way?) = reach { network.merge(way.fields) { _, way in way } }
        members["network"] = .object(network)
        return members
    }

    static var events: [any ReportedEvent.Type] { [NetworkEvent.self] }
}
