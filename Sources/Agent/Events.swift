import FoundationEssentials
import Gateway
import Groundwork
import Messaging

extension Agent {
    /// Tells of an event of the gateway's.
    nonisolated func report(_ event: GatewayEvent) {
        var details: [String: JSON] = ["message": .string(event.description)]
        if let error = event.error { details.merge(error.explanation) { _, new in new } }
        if case .tokenDidArrive(_, let expires) = event { details["expires"] = .string(expires.formatted(.iso8601)) }
        let severity: AgentEvent.Severity = switch event {
        // The person who failed was told, and nothing is wrong with the board.
        case .userDidFailToAuthenticate, .userDidFailToLogout: .notable
        default: event.error == nil ? event.isRoutine ? .routine : .notable : .trouble
        }
        let name = event.name.hasPrefix("gateway-") ? String(event.name.dropFirst(8)) : event.name
        report(AgentEvent("gateway.\(name)", severity, at: time.now, details))
    }

    /// Tells of an event of the connection to the broker.
    nonisolated func report(_ event: MessengerEvent) {
        let now = time.now
        switch event {
        case .connecting(let broker, let attempt):
            report(AgentEvent("broker.connecting", at: now,
                [
                    "broker": .string(broker.description), "attempt": .integer(Int64(attempt)),
                    "message": .string("connecting to broker \(broker)\(attempt > 1 ? ", attempt \(attempt)" : "")"),
                ]))
        case .connected(let broker, let sessionPresent):
            report(AgentEvent("broker.connected", .notable, at: now,
                [
                    "broker": .string(broker.description), "sessionPresent": .bool(sessionPresent),
                    "message": .string("connected to broker \(broker)"),
                ]))
        case .refused(let refusal):
            // The failure that follows tells of the same as trouble.
            report(AgentEvent("broker.refused", at: now,
                ["message": .string("the broker refused, so the token is dropped: \(refusal)")]))
        case .failed(let error, let delay):
            report(AgentEvent("broker.failed", .trouble, at: now, error.explanation.merging(
                ["retrySeconds": .integer(delay.components.seconds)], uniquingKeysWith: { own, _ in own })))
        case .disconnected(let broker):
            report(AgentEvent("broker.disconnected", .notable, at: now, [
                "broker": .string(broker.description), "message": .string("disconnected from broker \(broker)"),
            ]))
        case .subscriptionRefused(let filter):
            report(AgentEvent("broker.subscription-refused", .trouble, at: now, [
                "filter": .string(filter.text), "message": .string("the broker refuses the subscription to \(filter)"),
            ]))
        }
    }

    /// Tells of messages that the outbox gave up.
    nonisolated func report(_ event: OutboxEvent) {
        switch event {
        case .dropped(let count, let reason, let total): report(.dropped(count, reason, total: total, at: time.now))
        case .deadLetter(let letter):
            report(AgentEvent("outbox.dead-letter", .trouble, at: time.now, [
                "id": .integer(letter.id), "topic": .string(letter.topic.name), "bytes": .integer(Int64(letter.bytes)),
                "message": .string("message \(letter.id) is no longer sent: \(letter.reason)"),
                "remedy": "look at it with: latchkey dead-letters",
            ]))
        }
    }
}

extension GatewayEvent {
    /// Whether nobody needs to see it unless they look for it.
    fileprivate var isRoutine: Bool {
        switch self {
        case .clientWillInitialize, .deviceWillRegister, .deviceWillRenew, .deviceWillDeregister, .willSwitchGateway, .tokenDidArrive,
            .userWillAuthenticate, .userWillLogout, .userTokenDidArrive:
            true
        default: false
        }
    }
}

extension AgentEvent {
    /// Messages that the outbox gave up.
    static func dropped(_ count: Int, _ reason: OutboxEvent.DropReason, total: Int, at time: Date) -> AgentEvent {
        let why = switch reason {
        case .full: "the outbox was full"
        case .expired: "they waited for too long"
        case .unsendable: "they cannot be sent"
        case .formerIdentity: "they were accepted for a device that this board no longer is"
        }
        // Whoever gave up the identity was told, or asked for it.
        return AgentEvent("outbox.dropped", reason == .formerIdentity ? .notable : .trouble, at: time, [
            "count": .integer(Int64(count)), "reason": .string(reason.rawValue), "total": .integer(Int64(total)),
            "message": .string("\(count) \(count == 1 ? "message was" : "messages were") dropped: \(why)"),
        ])
    }
}
