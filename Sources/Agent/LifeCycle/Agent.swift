import AgentCalls
import AgentCore
import AgentGateway
import Board
import CLinux
import FoundationEssentials
import Groundwork
import HTTPClient
import LocalAPI
import Logging
import Prompts
import UnixSignals
import Vault

/// The agent: a host with its features.
package final class Agent: Sendable {
    let host: Host
    private let logger: Logger

    init(
        configuration: AgentConfiguration, vault: Vault, hardware: KeyHardware? = nil, client: HTTPClient,
        time: BestKnownTime, board: BoardParts, logger: Logger, features: [any Feature.Type] = Features.all
    ) {
        self.logger = logger
        let hardware = hardware ?? KeyHardware(configuration, environment: [:])
        host = Host(
            settings: configuration, vault: vault, hardware: hardware, client: client, time: time, board: board,
            logger: logger)
        host.make(features)
    }

    /// Runs the daemon until SIGTERM or SIGINT.
    ///
    /// - Throws: if the agent cannot start because of its state directory, its vault or its socket. Later failures are
    ///   reported and retried.
    package static func run(_ configuration: AgentConfiguration) async throws {
        // Keys are in memory from here on: forbid core dumps, and reading by other processes of this user.
        _ = latchkey_forbid_dumps()
        _ = latchkey_forbid_huge_pages()
        _ = latchkey_share_arenas()
        let state = try StateDirectory(configuration.stateDirectory)
        let time = BestKnownTime(path: "\(state.path)/clock")
        let hardware = KeyHardware(configuration, environment: ProcessInfo.processInfo.environment)
        // Also where the agent cannot start: an exit status must not be lost to a module that crashes.
        defer { hardware.end() }
        let agent = Agent(
            configuration: configuration,
            vault: Vault(path: "\(state.path)/vault.db", keepers: hardware.keepers), hardware: hardware,
            client: HTTPClient(),
            time: time,
            board: BoardParts(configuration.board, time: time, state: state.path), logger: Logger(label: "agent"))
        do {
            try await agent.openVault()
        } catch let error as VaultError where Standby.helps(against: error) {
            try await Standby(host: agent.host, logger: agent.logger).wait(after: error) { try await agent.openVault() }
        }
        try await agent.run()
        withExtendedLifetime(state) {}
    }

    private func run() async throws {
        for warning in try await host.warnings() { logger.warning("\(warning)") }
        let notifier = ServiceNotifier()
        let gateways = host.feature(GatewayFeature.self).gateways
        let services = services() + [Watchdog(notifier: notifier) { _ = await gateways.link }]
        // Early, because the disk, the network and the broker take time while the rest starts.
        await resume()
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let server: LocalServer
        do {
            for feature in host.features { try feature.prepare() }
            let grants = host.feature(GrantsFeature.self).authorizer.book
            server = LocalServer(
                socketPath: host.settings.api.socket, policy: try AccessPolicy(host.settings.api),
                router: host.router(),
                units: { grants.units }, relay: try host.feature(ProxyFeature.self).relay())
            try server.listen()
        } catch {
            await end()
            throw error
        }
        let board = host.board.definition
        logger.notice("ready", metadata: ["socket": "\(host.settings.api.socket)", "board": "\(board.name)"])
        notifier.ready("running on \(board.title)")
        let all = services + [host.restarting("local API") { try await server.run() }]
        await Services.run(all) { for await _ in signals { return } }
        notifier.stopping()
        await end()
        logger.notice("stopped")
    }

    func services() -> [any Service] { host.features.flatMap { $0.services() } }

    func resume() async {
        for feature in host.features { await feature.resume() }
    }

    /// A damaged vault is renamed and a new one created, unless it may have a key in hardware: a board that only
    /// reports its trouble is worth more than one that does not start.
    private func openVault() async throws {
        switch host.vaultFault {
        // It is open, and is only compared again: to derive its key each second would be work.
        case .otherBoard, .rollback: break
        default: try await unsealVault()
        }
        try await host.feature(HardwareFeature.self).checkHardware()
        try await host.feature(RollbackFeature.self).begin()
    }

    private func unsealVault() async throws {
        let (vault, (keys, fault)) = (host.vault, host.feature(VaultFeature.self).keys())
        if keys.isEmpty, let fault { throw fault }
        do throws(VaultError) {
            // A new vault gets a slot for each key.
            try await vault.unseal(with: keys, creating: fault == nil)
        } catch {
            if let fault {
                if case .missing = error { throw fault }
                throw error
            }
            let setAside = try Vault.setAside(at: vault.path, after: error, with: keys)
            try await vault.unseal(with: keys, creating: true)
            host.report(VaultEvent.setAside(path: setAside))
        }
        let opened = try await vault.openedBy()
        if let first = host.settings.vault.slots.first, opened.kind != first.kind {
            host.report(VaultEvent.openedByAnother(slot: opened.id, kind: opened.kind))
        }
    }

    /// Ends everything that the features have open; nothing stored is lost.
    func end() async {
        for feature in host.features { await feature.close() }
        host.prompts.close()
        host.events.finish()
        await host.vault.close()
    }
}
