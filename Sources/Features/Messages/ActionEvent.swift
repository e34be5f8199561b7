import AgentCore
import Groundwork

/// Something that happened to an action.
package enum ActionEvent: ReportedEvent {
    case started(action: String, id: Int64, topic: String, attempt: Int)
    case ended(action: String, id: Int64)
    case failed(action: String, id: Int64, attempt: Int, ActionOutcome, isDead: Bool)
    /// The runner cannot be reached; reported once until it can.
    case unavailable(action: String, reason: String)

    package static let meanings = [
        "action.ended": "the command of an action succeeded, and its message is done",
        "action.failed":
            "the command of an action failed or could not be started; the event says what happens to the message",
        "action.started": "the command of an action was started with a message",
    ]

    package static var details: [String: Schema] {
        [
            "action": .string("its name"), "id": .integer("number of the message"), "topic": .string("the whole topic"),
            "attempt": .integer("number of the attempt with this message, from 1"),
            "status": .integer("exit status of the command"),
            "signal": .integer("signal that ended the command"),
            "timedOut": .boolean("whether it was ended at its time limit"),
            "isDead": .boolean("whether the message was given up"),
        ]
    }

    package var report: EventReport {
        switch self {
        case .started(let action, let id, let topic, let attempt):
            return EventReport(
                "action.started", .routine, "action \(action) was started with message \(id)",
                [
                    "action": .string(action), "id": .integer(id),
                    "topic": .string(DisplayText.oneLine(topic, limit: 256)),
                    "attempt": .integer(Int64(attempt)),
                ])
        case .ended(let action, let id):
            return EventReport(
                "action.ended", .routine, "action \(action) has done message \(id)",
                ["action": .string(action), "id": .integer(id), "status": 0])
        case .failed(let action, let id, let attempt, let outcome, let isDead):
            var fields: [String: JSON] = [
                "action": .string(action), "id": .integer(id), "attempt": .integer(Int64(attempt)),
                "timedOut": .bool(outcome.timedOut), "isDead": .bool(isDead),
                "remedy": .string("see its output: latchkey actions log \(action)"),
            ]
            fields["status"] = outcome.status.map { .integer(Int64($0)) }
            fields["signal"] = outcome.signal.map { .integer(Int64($0)) }
            return EventReport(
                "action.failed", isDead ? .trouble : .notable,
                "action \(action) failed with message \(id): \(outcome.summary)"
                    + (isDead ? "; the message is set aside" : ""), fields)
        case .unavailable(let action, let reason):
            return EventReport(
                "action.failed", .trouble, "action \(action) cannot be started: \(reason)",
                [
                    "action": .string(action),
                    "remedy": "start the socket of actions: systemctl enable --now latchkey-actions.socket",
                ])
        }
    }
}
