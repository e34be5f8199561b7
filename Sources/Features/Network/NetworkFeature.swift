import AgentBrokers
import AgentCore
import AgentGateway
import AgentMessages
import Connectivity
import FoundationEssentials
import Gateway
import Groundwork
import LocalAPI

/// The network that this board is in, and whether its gateway is reachable.
package struct NetworkFeature: Feature {
    let host: Host
    let gateways: GatewayAccounts
    let broker: BoardBroker
    let brokers: BrokersFeature
    let last = LastReach()

    package init(_ host: Host) {
        self.host = host
        gateways = host.feature(GatewayFeature.self).gateways
        broker = host.feature(MessagesFeature.self).broker
        brokers = host.feature(BrokersFeature.self)
    }

    package func services() -> [any Service] {
        let (changes, events) = (host.network.monitor.changes.subscribe(), host.events.subscribe())
        host.network.start(at: host.time.now)
        return [
            host.restarting("network") { await self.followNetwork(changes) },
            host.restarting("reachability") { await self.followReach(events) },
        ]
    }

    // Its check is the first of the gateway's: a network fault explains every later failure.
    package func examine(into state: inout AgentState) async throws {
        state.network = host.network.monitor.state
    }

    package static var statusMembers: [String: Schema] {
        [
            "network": .object(
                [
                    "state": .string("network state of this machine", choices: ["unknown", "none", "connected"]),
                    "interface": .string("link that leads to the network"),
                    "kind": .choice("kind of link", of: NetworkWay.Kind.self),
                    "wirelessName": .string("name of the wireless network (SSID), where the kernel tells it"),
                    "gateway": .string(
                        "judged by the last answer over this network and the broker's connection",
                        choices: GatewayReach.names),
                    "since": .time("when the network was lost"),
                ], required: ["state", "gateway"], "The network, as the kernel reports it")
        ]
    }

    package func status() async throws -> [String: JSON] {
        let reach = try await gatewayReach()
        var network: [String: JSON] = ["gateway": .string((reach ?? .unknown).name)]
        var members: [String: JSON] = [:]
        switch host.network.monitor.state {
        case .unknown: network["state"] = "unknown"
        case .way(let way):
            network["state"] = "connected"
            network.merge(way.fields) { own, _ in own }
        case .none:
            network["state"] = "none"
            let since = JSON.string(host.network.since.formatted(.iso8601))
            network["since"] = since
            // Whatever failed since, this is why.
            if let gateway = await gateways.link?.gateway.identity.host, host.network.isCutOff(from: gateway) {
                members["lastError"] = .object(
                    Explanation(of: NetworkError.noNetwork).members.merging(["time": since]) { own, _ in own })
            }
        }
        if case .reachable(let way?) = reach { network.merge(way.fields) { _, way in way } }
        if case .way(let way) = host.network.monitor.state {
            network["wirelessName"] = way.wirelessName.map(JSON.string)
        }
        members["network"] = .object(network)
        return members
    }

    package static var errors: [any Explained.Type] { [NetworkError.self] }

    package static var events: [any ReportedEvent.Type] { [NetworkEvent.self] }
}
