import Board
public import FoundationEssentials
import Gateway
public import Groundwork
import Messaging
import Proximity

/// Something that happened in the agent's life, for `latchkey status --follow`, programs and the log.
public struct AgentEvent: Sendable {
    public let time: Date
    /// What happened. Whatever the agent does about it, it decides by this alone.
    let source: Source
    /// Stable and for programs: `room.what-happened`.
    public let name: String
    public let severity: EventReport.Severity
    /// What it happened to; nothing secret.
    public let details: [String: JSON]

    /// Whose event it is.
    enum Source: Sendable {
        case gateway(GatewayEvent)
        case broker(MessengerEvent)
        case outbox(OutboxEvent)
        case proximity(ProximityEvent)
        case button(ButtonEvent)
        case sensor(SensorEvent)
        case own(OwnEvent)

        fileprivate var report: EventReport {
            switch self {
            case .gateway(let event): event.report
            case .broker(let event): event.report
            case .outbox(let event): event.report
            case .proximity(let event): event.report
            case .button(let event): event.report
            case .sensor(let event): event.report
            case .own(let event): event.report
            }
        }
    }

    init(_ source: Source, at time: Date) {
        self.time = time
        self.source = source
        let report = source.report
        name = report.name
        severity = report.severity
        var details = report.fields
        if let message = report.message { details["message"] = .string(message) }
        if let error = report.error { details.merge(error.explanation) { _, new in new } }
        self.details = details
    }

    /// For how long a trouble is shown that nothing ends, such as messages that were dropped, in seconds.
    static let shownSeconds: TimeInterval = 86_400

    public var json: JSON {
        .object(
            details.merging(
                ["event": .string(name), "time": .string(time.formatted(.iso8601))], uniquingKeysWith: { _, own in own }
            ))
    }
}

extension Error {
    /// All that is said of an error, as members of an event or of a part of the status.
    var explanation: [String: JSON] { Explanation(of: self).members }
}
