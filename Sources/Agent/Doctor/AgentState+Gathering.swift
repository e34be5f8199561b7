import Bluetooth
import Board
import FoundationEssentials
import Gateway
import HTTPClient
import Messaging
import Proximity
import Vault

extension Agent {
    /// Looks at everything once, for the health checks.
    func examinedState() async throws -> AgentState {
        var state = AgentState(
            now: time.now, clockIsPlausible: time.isPlausible, renewDays: configuration.gateway.renewDays)
        state.clockFile = time.path
        state.vaultSlot = try await vault.openedBy().kind
        state.vaultFaults = try await vault.faults()
        state.diskTrouble = StateDirectory.trouble(in: configuration.stateDirectory)
        state.setAside = StateDirectory.setAside(in: configuration.stateDirectory)
        state.boardFault = board.isWithoutDefinition ? board.faults.first : nil
        state.sensorCount = board.definition.sensors.count
        state.failingSensors = await board.poller.failing()
        for check in await BoardCheck.run(board.definition, wallClock: { [time] in time.now }) {
            if case .sensor = check.part { continue }
            state.lineCount += 1
            switch check.finding {
            case .simulated: state.linesAreSimulated = true
            case .fault(let error): state.lineFaults.append(error)
            default: break
            }
        }
        state.sharing = configuration.proximity.share
        state.requiresEncryption = configuration.proximity.requireEncryption
        state.takesKeyboards = BluetoothDaemonSettings.read().takesKeyboards
        state.hasButton = board.button != nil
        state.buttonFault = await nearby.desk.buttonFault
        let adapter = await nearby.adapter()
        // A board that has no Bluetooth and is not asked for any lacks nothing.
        if adapter.fault == nil || configuration.proximity.share != .never || adapter.adapter != nil {
            state.adapter = adapter
        }
        guard let link else { return state }
        state.gatewayHost = link.gateway.identity.host
        state.probe = await probe(link)
        state.certificateEnd = try await link.session.status().certificate?.notAfter
        state.outboxFault = await link.outboxFault
        if let station = await link.station {
            let status = await station.messenger.status()
            state.broker = .init(
                address: status.broker.description, isConnected: status.state == .connected, lastError: status.lastError
            )
            state.outbox = .init(
                depth: status.outbox.depth, dropped: status.outbox.dropped.total - status.outbox.dropped.formerIdentity,
                deadLetters: status.outbox.deadLetters,
                oldestAge: status.outbox.oldest.map { state.now.timeIntervalSince($0) })
        }
        return state
    }

    /// Asks the gateway for its public discovery document (E17), which needs neither registration nor token.
    private func probe(_ link: Link) async -> Result<Int, HTTPError>? {
        guard let trust = try? link.session.trust(for: link.gateway.identity.host) else { return nil }
        var request = HTTPRequest(
            "GET", link.gateway.identity.baseURL + "/.well-known/openid-configuration", trust: trust)
        request.timeout = .seconds(20)
        // A connection of its own: one that stands already would prove nothing.
        let prober = HTTPClient()
        do {
            return .success(try await prober.send(request).status)
        } catch {
            return .failure(error)
        }
    }
}
