import AgentCore
import FoundationEssentials
import Messaging

extension MetricsPage {
    /// A connection to a broker: the board's own, that of its user, or one that the settings name.
    struct Connection {
        enum Kind: String { case board, user, named }
        let kind: Kind
        /// Of the account, or of the broker.
        let name: String
        /// `nil` while it has not been used.
        let status: MessengerStatus?
    }

    mutating func add(_ connections: [Connection]) {
        func samples(_ value: (MessengerStatus) -> Int) -> [Sample] {
            connections.compactMap { connection in
                connection.status.map { Sample(Double(value($0)), connection.labels) }
            }
        }
        typealias State = MessengerStatus.State
        let states = [State.stopped, .connecting, .connected, .waiting].map(\.rawValue)
        self.states(
            "latchkey_broker_state", of: states, "What the connection to the broker is doing",
            connections.map { ($0.labels, ($0.status?.state ?? .stopped).rawValue) })
        gauge(
            "latchkey_broker_connection_attempts", "Attempts since the last connection, the present one included",
            samples(\.attempts))
        counter(
            "latchkey_broker_sent_messages", "Messages sent to the broker, repeated ones included", samples(\.sent))
        counter(
            "latchkey_broker_acknowledged_messages", "Messages that the broker has acknowledged",
            samples(\.acknowledged))
        counter("latchkey_broker_received_messages", "Messages received from the broker", samples(\.received))
        counter(
            "latchkey_broker_unclaimed_messages", "Messages received that no subscription asked for",
            samples(\.unclaimed))
        counter(
            "latchkey_broker_oversized_messages", "Messages received that were larger than the agent accepts",
            samples(\.oversized))
        counter("latchkey_broker_error_reports", "Errors that the broker has reported", samples(\.reports))
    }

    /// - Parameter limit: the size at which it is full, in bytes.
    mutating func add(_ outbox: OutboxStatus, limit: Int, at now: Date) {
        gauge("latchkey_outbox_messages", "Messages that wait for the broker", Double(outbox.depth))
        gauge("latchkey_outbox_bytes", unit: "bytes", "Size of the messages that wait", Double(outbox.bytes))
        gauge("latchkey_outbox_limit_bytes", unit: "bytes", "Size at which the outbox is full", Double(limit))
        gauge(
            "latchkey_outbox_unwritten_messages", "Messages that wait only in memory, not on the disk",
            Double(outbox.unwritten))
        gauge(
            "latchkey_outbox_oldest_age_seconds", unit: "seconds", "How long the oldest message has waited",
            outbox.oldest.map { now.timeIntervalSince($0) } ?? 0)
        gauge(
            "latchkey_outbox_dead_letters",
            "Messages that are no longer sent, because the broker closed the connection on each",
            Double(outbox.deadLetters))
        counter(
            "latchkey_outbox_accepted_messages", "Messages accepted since the outbox was made",
            Double(outbox.accepted))
        counter(
            "latchkey_outbox_delivered_messages", "Messages that left the outbox because the broker has them",
            Double(outbox.delivered))
        let drops = outbox.dropped
        counter(
            "latchkey_outbox_dropped_messages", "Messages that were never sent, by the reason",
            [
                ("full", drops.full), ("expired", drops.expired), ("unsendable", drops.unsendable),
                ("former_identity", drops.formerIdentity),
            ].map { Sample(Double($0.1), [("reason", $0.0)]) })
    }

    mutating func add(_ inboxes: [InboxStatus], at now: Date) {
        func samples(_ value: (InboxStatus) -> Double) -> [Sample] {
            inboxes.map { Sample(value($0), [("inbox", $0.name)]) }
        }
        gauge(
            "latchkey_inbox_messages", "Messages that have not been acknowledged", samples { Double($0.unread) })
        gauge(
            "latchkey_inbox_dead_messages", "Messages that an action has given up", samples { Double($0.dead) })
        gauge("latchkey_inbox_bytes", unit: "bytes", "Size of all of them", samples { Double($0.bytes) })
        gauge(
            "latchkey_inbox_oldest_age_seconds", unit: "seconds", "How long the oldest message has waited",
            samples { $0.oldest.map { now.timeIntervalSince($0) } ?? 0 })
        counter(
            "latchkey_inbox_dropped_messages", "Messages that were dropped for lack of room or for their age",
            samples { Double($0.dropped) })
    }
}

extension MetricsPage.Connection {
    fileprivate var labels: MetricsPage.Labels { [("connection", kind.rawValue), ("name", name)] }
}
