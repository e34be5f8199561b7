import FoundationEssentials
import Groundwork
import HTTPClient
import LocalAPI
import Messaging
import Settings

/// The broker and the outbox: publishing, receiving, and messages that the broker refuses.
struct MessagesFeature: Feature {
    init(_ host: Host) {}

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("broker") { table in
            table.string("account", &configuration.broker.account, .accountName)
            table.string("host", &configuration.broker.host, .hostOrEmpty)
            table.integer("port", &configuration.broker.port, in: 0...65_535)
            table.integer("keep_alive_seconds", &configuration.broker.keepAliveSeconds, in: 5...65_535)
            table.string("alpn", &configuration.broker.alpn, .applicationProtocol)
            table.choice(
                "presence", &configuration.broker.presence, BrokerSettings.Presence.allCases.map { ($0.rawValue, $0) })
            table.string("status_topic", &configuration.broker.statusTopic, .topic)
            table.string("topic_version", &configuration.broker.topicVersion, .topicLevel)
            table.integer("window", &configuration.broker.window, in: 1...1000)
            table.string("client_id", &configuration.broker.clientID, .logInTemplate(LogInTemplate.names))
            table.string("user_name", &configuration.broker.userName, .logInTemplate(LogInTemplate.names))
            table.string("password", &configuration.broker.password, .logInTemplate(LogInTemplate.namesOfPassword))
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

    func addRoutes(to router: inout Router, of agent: Agent) {
        agent.addMessageRoutes(to: &router)
        agent.addSendRoutes(to: &router)
        agent.addDeadLetterRoutes(to: &router)
        agent.addOutboxRoutes(to: &router)
    }

    static var checks: [any HealthCheck] { [BrokerCheck(), OutboxCheck()] }

    func examine(_ agent: Agent, into state: inout AgentState) async throws {
        guard let link = await agent.brokerLink else { return }
        state.outboxFault = await link.outboxFault
        guard let status = await link.station?.messenger.status() else { return }
        state.broker = .init(
            address: status.broker.description, isConnected: status.state == .connected, lastError: status.lastError,
            reports: status.reports, lastReport: status.lastReport, inboxFault: status.inboxFault,
            proxy: ForwardProxy.forHTTPS(to: status.broker.host))
        state.outbox = .init(
            depth: status.outbox.depth, dropped: status.outbox.dropped.total - status.outbox.dropped.formerIdentity,
            deadLetters: status.outbox.deadLetters,
            oldestAge: status.outbox.oldest.map { state.now.timeIntervalSince($0) })
    }

    static var statusMembers: [String: Schema] { ["broker": .broker, "userBroker": .broker, "outbox": .outbox] }

    func status(of agent: Agent) async throws -> [String: JSON] {
        guard let link = await agent.brokerLink else { return [:] }
        if let messenger = await link.station?.messenger.status() {
            let flush = agent.configuration.outbox.flushSeconds
            var report = [
                "broker": messenger.report, "outbox": messenger.outbox.report(at: agent.time.now, flushSeconds: flush),
            ]
            report["userBroker"] = await link.userStation?.messenger.status().report
            return report
        }
        guard let fault = await link.outboxFault else { return [:] }
        return ["outbox": ["error": .object(fault.explanation)]]
    }

    func warnings(of agent: Agent) async throws -> [String] {
        guard await agent.brokerLink == nil, await !agent.accounts.all.isEmpty else { return [] }
        return ["broker.account names \(agent.brokerAccount), an account that this board does not have"]
    }

    static var events: [any ReportedEvent.Type] { [MessengerEvent.self, OutboxEvent.self, MessageEvent.self] }
}
