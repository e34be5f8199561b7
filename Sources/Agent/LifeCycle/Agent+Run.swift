import Board
import CLinux
import FoundationEssentials
import Gateway
import Groundwork
import HTTPClient
import LocalAPI
import Logging
import Messaging
import Prompts
import UnixSignals
import Vault

extension Agent {
    /// Runs the daemon until SIGTERM or SIGINT.
    ///
    /// - Throws: if the agent cannot start because of its state directory, its vault or its socket. Later failures are
    ///   reported and retried.
    public static func run(_ configuration: AgentConfiguration) async throws {
        // Keys are in memory from here on: forbid core dumps, and reading by other processes of this user.
        _ = latchkey_forbid_dumps()
        _ = latchkey_forbid_huge_pages()
        _ = latchkey_share_arenas()
        let logger = Logger(label: "agent")
        let state = try StateDirectory(configuration.stateDirectory)
        let time = BestKnownTime(path: "\(state.path)/clock")
        let vault = Vault(path: "\(state.path)/vault.db")
        let agent = Agent(
            configuration: configuration, vault: vault, client: HTTPClient(), gateways: Gateways(vault: vault),
            time: time, board: BoardParts(configuration.board, time: time), logger: logger)
        do {
            try await agent.openVault()
        } catch let error as VaultError where Standby.helps(against: error) {
            try await Standby(agent: agent).wait(after: error) { try await agent.openVault() }
        }
        for warning in try await agent.warnings() { logger.warning("\(warning)") }
        let notifier = ServiceNotifier()
        let services = agent.services() + [Watchdog(notifier: notifier) { _ = await agent.link }]
        // Early, because the disk, the network and the broker take time while the rest starts.
        await agent.resume()
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let server: LocalServer
        do {
            try agent.setGrants()
            server = LocalServer(
                socketPath: configuration.api.socket, policy: try AccessPolicy(configuration.api),
                router: agent.router(), units: { agent.grants.units }, relay: try agent.relay())
            try server.listen()
        } catch {
            await agent.end()
            throw error
        }
        logger.notice(
            "ready", metadata: ["socket": "\(configuration.api.socket)", "board": "\(agent.board.definition.name)"])
        notifier.ready("running on \(agent.board.definition.title)")
        let all = services + [agent.restarting("local API") { try await server.run() }]
        await Services.run(all) { for await _ in signals { return } }
        notifier.stopping()
        await agent.end()
        logger.notice("stopped")
        withExtendedLifetime(state) {}
    }

    /// A damaged vault is renamed and a new one created: a board that only reports its trouble is worth more
    /// than one that does not start.
    private nonisolated func openVault() async throws {
        // One of another board is open, and is only compared again: to derive its key each second would be work.
        if case .otherBoard = vaultFault {} else { try await unsealVault() }
        try await checkHardware()
    }

    private nonisolated func unsealVault() async throws {
        let key = try configuration.vault.key(
            stateDirectory: configuration.stateDirectory, environment: ProcessInfo.processInfo.environment)
        do throws(VaultError) {
            try await vault.unseal(with: [key], creating: true)
        } catch {
            guard error.isDamage else { throw error }
            let setAside = try Vault.setAside(at: vault.path)
            try await vault.unseal(with: [key], creating: true)
            report(VaultEvent.setAside(path: setAside))
        }
    }

    private func end() async {
        for feature in features { await feature.close() }
        for broker in brokers { _ = await broker.disconnect() }
        await close()
        await nearby.close()
        prompts.close()
        events.finish()
        await vault.close()
    }
}
