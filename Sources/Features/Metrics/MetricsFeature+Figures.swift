import AgentBrokers
import AgentCore
import AgentCrypto
import AgentGateway
import AgentMessages
import AgentPasscode
import Board
import FoundationEssentials
import Gateway
import Groundwork
import HTTPClient
import LocalAPI
import Messaging
import Vault

/// The agent's figures: only what is counted anyway, at the moment of the question. Labels are names of the settings,
/// of accounts and of inboxes that were added, whose numbers have limits; nothing that comes from a network is one.
extension MetricsFeature {
    /// - Parameter path: where the figures are asked for.
    package func addMetricsRoute(to router: inout Router, at path: String = "/v1/metrics") {
        router.on(
            "GET", path, needs: .read,
            .init(
                "The agent's figures for other tools: OpenMetrics, the older text of Prometheus, or JSON",
                answer: MetricsPage.schema, texts: MetricsForm.texts)
        ) { request in
            MetricsForm.preferred(accepted: request.headers.all("Accept")).response(await self.metrics())
        }
    }

    func metrics() async -> MetricsPage {
        var page = MetricsPage()
        let now = host.time.now
        page.info("latchkey_build", "The version of the agent", [("version", Version.text)])
        page.gauge(
            "latchkey_vault_locked", "1 if the sealed store cannot be opened: then all other figures are missing",
            host.vaultFault == nil ? 0 : 1)
        page.gauge(
            "latchkey_clock_plausible", "1 if the clock of the board is plausible", host.time.isPlausible ? 1 : 0)
        if host.vaultFault == nil {
            await addPasscode(to: &page)
            page.add(await gatewayAccounts(), at: now)
            await addMessages(to: &page, at: now)
            page.add(await host.board.poller.counts() + host.board.handed.all())
            page.counter(
                "latchkey_telemetry_unsent_messages", "Messages with readings that no account could send",
                Double(broker.unsentTelemetry))
            let operations = crypto.counts.all.sorted { $0.key.rawValue < $1.key.rawValue }
            page.counter(
                "latchkey_crypto_operations", "Uses of the crypto service by programs",
                operations.map { .init(Double($0.value), [("operation", $0.key.rawValue)]) })
        }
        let up = ContinuousClock.now - host.started
        page.add(ProcessFigures.read(), started: now.timeIntervalSince1970 - up / .seconds(1))
        return page
    }

    private func addPasscode(to page: inout MetricsPage) async {
        // Damage is what the doctor reports.
        guard let status = try? await passcode.status(), status.state == .set else { return }
        page.gauge(
            "latchkey_vault_passcode_locked", "1 while what the board has of persons is locked",
            status.open.contains(.unlocked) ? 0 : 1)
        page.gauge(
            "latchkey_vault_passcode_failures", "Wrong passcodes since one was right", Double(status.failures))
    }

    private func gatewayAccounts() async -> [MetricsPage.GatewayAccount] {
        var found: [MetricsPage.GatewayAccount] = []
        for account in await gateways.table.all {
            // An account whose records cannot be read has no figures; the doctor says why.
            guard let status = try? await account.session.status() else { continue }
            found.append(.init(name: account.name.text, isStopped: account.session.isStopped, status: status))
        }
        return found
    }

    private func addMessages(to page: inout MetricsPage, at now: Date) async {
        let (brokerSession, user) = (await broker.brokerSession, await broker.gatewayBroker?.openUserBrokerSession)
        let own = await brokerSession?.messenger.status()
        var connections: [MetricsPage.Connection] = []
        if let own { connections.append(.init(kind: .board, name: broker.account.text, status: own)) }
        if let user {
            connections.append(.init(kind: .user, name: broker.account.text, status: await user.messenger.status()))
        }
        for broker in brokers.all {
            let status = await broker.connection?.messenger.status()
            connections.append(.init(kind: .named, name: broker.settings.name, status: status))
        }
        page.add(connections)
        if let own { page.add(own.outbox, limit: host.settings.outbox.limitBytes, at: now) }
        if let inboxes = try? await brokerSession?.inboxes?.statuses() { page.add(inboxes, at: now) }
    }
}
