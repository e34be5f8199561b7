import AgentBrokers
import AgentCore
import AgentGateway
import AgentMessages
import Connectivity
import FoundationEssentials
import Gateway
import Groundwork
import Messaging
import Synchronization

/// Follows the network: who waits for it tries at once when it is back.
extension NetworkFeature {
    /// Runs until canceled.
    func followNetwork(_ changes: AsyncStream<NetworkMonitor.State>) async {
        var known = host.network.monitor.state
        for await state in changes {
            if state != known {
                host.network.noteChange(at: host.time.now)
                switch state {
                case .way(let way): host.report(NetworkEvent.changed(way))
                case .none: host.report(NetworkEvent.lost)
                case .unknown: break
                }
                known = state
            }
            host.network.settle { await self.adapt(hasReturned: $0) }
        }
    }

    private func adapt(hasReturned: Bool) async {
        let accounts = await gateways.table.all
        if hasReturned {
            for account in accounts { account.session.networkDidChange() }
        }
        var messengers: [Messenger?] = []
        for broker in brokers.all { messengers.append(await broker.connection?.messenger) }
        messengers += [
            await broker.brokerSession?.messenger, await broker.gatewayBroker?.openUserBrokerSession?.messenger,
        ]
        for messenger in messengers {
            await messenger?.adapt(hasReturned: hasReturned) { [network = host.network] in network.monitor.carries($0) }
        }
    }

    /// Reports changes of the gateway's reachability, until canceled.
    func followReach(_ events: AsyncStream<AgentEvent>) async {
        for await event in events {
            guard event.mayChangeReach else { continue }
            guard let reach = try? await gatewayReach(), last.isNew(reach) else { continue }
            host.report(reach.event)
        }
    }

    /// - Returns: `nil` without a gateway.
    func gatewayReach() async throws -> GatewayReach? {
        guard let link = await gateways.link else { return nil }
        let status = try await link.session.status()
        let gateway = link.gateway.identity.host
        var signs = GatewayReach.Signs(
            isCutOff: host.network.isCutOff(from: gateway), since: host.network.since, lastContact: status.lastContact)
        if case .way(let way) = host.network.monitor.state { signs.way = way }
        if let failure = status.lastFailure, failure.error.explanation.kind == .unreachable {
            signs.lastSilence = failure.at
        }
        // A broker elsewhere says nothing of the gateway. Nor does one that is down: calls may work.
        if let messenger = await (link.work as? GatewayBroker)?.keeper.brokerSession?.messenger,
            messenger.address.host == gateway
        {
            signs.isConnected = await messenger.status().state == .connected
            signs.connectedBy = await messenger.localAddress.flatMap(host.network.monitor.way)
        }
        return GatewayReach(signs)
    }
}

extension AgentEvent {
    fileprivate var mayChangeReach: Bool {
        guard connection == .board, account == .gateway else { return false }
        guard let event = event as? NetworkEvent else {
            return event is GatewayEvent || event is MessengerEvent || event is AccountEvent
        }
        return switch event {
        case .changed, .lost: true
        case .gatewayReachable, .gatewayNotReachable, .gatewayUnknown: false
        }
    }
}
