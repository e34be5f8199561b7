import Board
import CLinux
import FoundationEssentials
import Gateway
import Groundwork
import HTTPClient
import LocalAPI
import Logging
import Messaging
import UnixSignals
import Vault

extension Agent {
    /// Runs the daemon until SIGTERM or SIGINT.
    ///
    /// - Throws: what keeps the agent from starting at all: its state directory, its vault, its socket.
    ///   What fails later is reported and tried again.
    public static func run(_ configuration: AgentConfiguration) async throws {
        // Keys are in memory from here on: no core dump, and no other process of this user may read it.
        _ = latchkey_forbid_dumps()
        _ = latchkey_forbid_huge_pages()
        let logger = Logger(label: "agent")
        let state = try StateDirectory(configuration.stateDirectory)
        let time = BestKnownTime(path: "\(state.path)/clock")
        let (vault, setAside): (Vault, String?)
        do {
            (vault, setAside) = try await openVault(configuration, state.path)
        } catch let error as VaultError where Standby.helps(against: error) {
            let standby = Standby(configuration, time, logger, after: error)
            (vault, setAside) = try await standby.wait { try await openVault(configuration, state.path) }
        }
        let agent = Agent(
            configuration: configuration, vault: vault, client: HTTPClient(), gateways: Gateways(vault: vault),
            time: time,
            board: BoardParts(configuration.board, time: time), logger: logger)
        if let setAside {
            agent.report(.own(.vaultSetAside(path: setAside)))
        }
        for warning in try await agent.warnings() { logger.warning("\(warning)") }
        let notifier = ServiceNotifier()
        let services = agent.services(notifier)
        // Early, as the disk, the network and the broker take their time while the rest starts.
        await agent.resume()
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let server: LocalServer
        do {
            server = LocalServer(
                socketPath: configuration.api.socket, policy: try AccessPolicy(configuration.api),
                router: agent.router())
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

    /// A damaged vault is kept under another name and a new one made: a board that only reports what is wrong with it is
    /// worth more than one that does not start.
    private static func openVault(
        _ configuration: AgentConfiguration, _ directory: String
    ) async throws -> (Vault, setAside: String?) {
        let path = "\(directory)/vault.db"
        let key = try configuration.vault.key(
            stateDirectory: directory, environment: ProcessInfo.processInfo.environment)
        do throws(VaultError) {
            return (try await Vault.open(at: path, with: [key], creating: true), nil)
        } catch .fileDamaged, .manifestDamaged {
            let setAside = try Vault.setAside(at: path)
            return (try await Vault.open(at: path, with: [key], creating: true), setAside)
        }
    }

    private nonisolated func services(_ notifier: ServiceNotifier) -> [any Service] {
        let switches = gateways.events.subscribe()
        let near = nearby.events.subscribe()
        let connected = events.subscribe(bound: 16)
        var services: [any Service] = [
            restarting("sensors") { try await SensorService(agent: self).run() },
            restarting("gateway events") { for await event in switches { self.report(.gateway(event)) } },
            restarting("proximity events") { await self.tellOfNearby(near) },
            restarting("sharing") { await self.keepSharing() },
            restarting("memory") { await Self.releaseStartPages(after: connected) },
            Watchdog(notifier: notifier) { _ = await self.link },
        ]
        if let button = board.button {
            services.append(restarting("button") { try await ButtonService(button: button, agent: self).run() })
        }
        if let led = board.led {
            services.append(restarting("LED") { try await led.run() })
            services.append(restarting("indication") { await self.indicate(on: led) })
        }
        return services
    }

    private nonisolated func restarting(_ name: String, _ body: @escaping @Sendable () async throws -> Void)
        -> Restarting
    {
        Restarting(
            onFailure: { self.report(.own(.serviceFailed(name, $0, retryAfter: $1))) }, body: body)
    }

    /// After each connection, once what it needed is done.
    private static func releaseStartPages(after events: AsyncStream<AgentEvent>) async {
        for await event in events {
            guard case .broker(.connected) = event.source else { continue }
            try? await Task.sleep(for: .seconds(5))
            Memory.releaseStartPages()
        }
    }

    private func end() async {
        await close()
        await nearby.close()
        events.finish()
        await vault.close()
    }
}
