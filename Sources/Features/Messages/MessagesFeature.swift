import AgentCore
import AgentGateway
import FoundationEssentials
import Gateway
import Groundwork
import HTTPClient
import LocalAPI
import Messaging
import Settings

/// The broker and the outbox: publishing, receiving, and messages that the broker refuses.
package struct MessagesFeature: Feature {
    package let host: Host
    package let gateways: GatewayAccounts
    package let broker: BoardBroker

    package init(_ host: Host) {
        self.host = host
        gateways = host.feature(GatewayFeature.self).gateways
        broker = BoardBroker(host, gateways: gateways)
    }

    package static func hosts(in configuration: AgentConfiguration) -> [String] { [configuration.broker.host] }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("broker") { table in
            table.string("account", &configuration.broker.account, .accountNameOrEmpty)
            table.string("host", &configuration.broker.host, .hostOrEmpty)
            table.integer("port", &configuration.broker.port, in: 0...65_535)
            table.integer("keep_alive_seconds", &configuration.broker.keepAliveSeconds, in: 5...65_535)
            table.string("alpn", &configuration.broker.alpn, .applicationProtocol)
            configuration.broker.way.read(&table)
            table.choice(
                "presence", &configuration.broker.presence, BrokerSettings.Presence.allCases.map { ($0.rawValue, $0) })
            table.string("status_topic", &configuration.broker.statusTopic, .topic)
            table.string("topic_version", &configuration.broker.topicVersion, .topicLevel)
            table.integer("window", &configuration.broker.window, in: 1...1000)
            table.string("client_id", &configuration.broker.clientID, .logInTemplate(LoginTemplate.names))
            table.string("user_name", &configuration.broker.userName, .logInTemplate(LoginTemplate.names))
            table.string("password", &configuration.broker.password, .logInTemplate(LoginTemplate.namesOfPassword))
            table.flag("user_connection", &configuration.broker.userConnection)
            table.flag("error_reports", &configuration.broker.reportsErrors)
        }
        root.table("outbox") { table in
            table.integer("limit_bytes", &configuration.outbox.limitBytes, in: 65_536...(1 << 40))
            table.integer("max_age_hours", &configuration.outbox.maxAgeHours, in: 1...87_600)
            table.integer(
                "payload_limit_bytes", &configuration.outbox.payloadLimitBytes,
                in: 1024...OutboxSettings.greatestPayload)
            table.flag("durable", &configuration.outbox.durable)
            table.integer("spill_milliseconds", &configuration.outbox.spillMilliseconds, in: 0...10_000)
            table.integer("flush_seconds", &configuration.outbox.flushSeconds, in: 0...3600)
        }
    }

    package func addRoutes(to router: inout Router) {
        addMessageRoutes(to: &router)
        addSendRoutes(to: &router)
        addDeadLetterRoutes(to: &router)
        addOutboxRoutes(to: &router)
    }

    package func services() -> [any Service] {
        guard host.board.led != nil else { return [] }
        let events = host.events.subscribe(bound: 16)
        return [host.restarting("connection light") { await self.showConnection(after: events) }]
    }

    package static var checks: [any HealthCheck] { [BrokerCheck(), OutboxCheck()] }

    package func examine(into state: inout AgentState) async throws {
        guard let keeper = await broker.keeper else { return }
        state.found[GatewayCheck.isNotNeeded] = .bool(await broker.gatewayBroker == nil)
        state.found[BrokerCheck.stopped] = .bool(await gateways.table[broker.account]?.session.isStopped == true)
        state.messages.outboxFault = await keeper.outboxFault
        guard let status = await keeper.brokerSession?.messenger.status() else { return }
        state.messages.broker = .init(
            address: status.broker.description, isConnected: status.state == .connected, lastError: status.lastError,
            reports: status.reports, lastReport: status.lastReport, inboxFault: status.inboxFault,
            way: status.way, preferredError: status.preferredError)
        state.messages.outbox = .init(
            depth: status.outbox.depth, dropped: status.outbox.dropped.total - status.outbox.dropped.formerIdentity,
            deadLetters: status.outbox.deadLetters,
            oldestAge: status.outbox.oldest.map { state.now.timeIntervalSince($0) })
    }

    package static var statusMembers: [String: Schema] {
        ["broker": MessengerStatus.schema(), "userBroker": MessengerStatus.schema(), "outbox": .outbox]
    }

    package func status() async throws -> [String: JSON] {
        guard let keeper = await broker.keeper else { return [:] }
        if let messenger = await keeper.brokerSession?.messenger.status() {
            let flush = host.settings.outbox.flushSeconds
            var report = [
                "broker": messenger.json, "outbox": OutboxStatus.answer.json((messenger.outbox, flush, host.time.now)),
            ]
            report["userBroker"] = await broker.gatewayBroker?.openUserBrokerSession?.messenger.status().json
            return report
        }
        guard let fault = await keeper.outboxFault else { return [:] }
        return ["outbox": ["error": .object(fault.explanation)]]
    }

    package func warnings() async throws -> [String] {
        guard await broker.keeper == nil, await !gateways.table.all.isEmpty else { return [] }
        return ["broker.account names \(broker.account), an account that this board does not have"]
    }

    package static var libraries: [(name: String, version: String)] { [("mosquitto", Messenger.libraryVersion)] }

    package static var errors: [any Explained.Type] { [MessagingError.self] }

    package static var events: [any ReportedEvent.Type] {
        [MessengerEvent.self, OutboxEvent.self, MessageEvent.self, TelemetryEvent.self]
    }
}
