import Connectivity
import FoundationEssentials
import Gateway
import Groundwork
import Messaging

/// Follows the network: who waits for it tries at once when it is back.
extension Agent {
    /// Runs until canceled.
    nonisolated func followNetwork(_ changes: AsyncStream<NetworkMonitor.State>) async {
        var known = network.monitor.state
        for await state in changes {
            if state != known {
                network.noteChange(at: time.now)
                switch state {
                case .way(let way): report(NetworkEvent.changed(way))
                case .none: report(NetworkEvent.lost)
                case .unknown: break
                }
                known = state
            }
            network.settle { await self.adapt(hasReturned: $0) }
        }
    }

    private func adapt(hasReturned: Bool) async {
        if hasReturned {
            for account in accounts.all { account.link.session.networkDidChange() }
        }
        for broker in brokers {
            await broker.connection?.messenger.adapt(hasReturned: hasReturned) { [network] in
                network.monitor.carries($0)
            }
        }
        for account in accounts.all {
            for station in [await account.link.station, await account.link.userStation] {
                await station?.messenger.adapt(hasReturned: hasReturned) { [network] in network.monitor.carries($0) }
            }
        }
    }

    /// Reports changes of the gateway's reachability, until canceled.
    nonisolated func followReach(_ events: AsyncStream<AgentEvent>) async {
        for await event in events {
            guard event.mayChangeReach else { continue }
            guard let reach = try? await gatewayReach(), network.isNew(reach) else { continue }
            report(reach.event)
        }
    }

    /// - Returns: `nil` without a gateway.
    func gatewayReach() async throws -> GatewayReach? {
        guard let link else { return nil }
        let status = try await link.session.status()
        let host = link.gateway.identity.host
        var signs = GatewayReach.Signs(
            isCutOff: network.isCutOff(from: host), since: network.since, lastContact: status.lastContact)
        if case .way(let way) = network.monitor.state { signs.way = way }
        if let failure = status.lastFailure, failure.error.explanation.kind == .unreachable {
            signs.lastSilence = failure.at
        }
        // A broker elsewhere says nothing of the gateway. Nor does one that is down: calls may work.
        if let messenger = await link.station?.messenger, messenger.address.host == host {
            signs.isConnected = await messenger.status().state == .connected
            signs.connectedBy = await messenger.localAddress.flatMap(network.monitor.way)
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
