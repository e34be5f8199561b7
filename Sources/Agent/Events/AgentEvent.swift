import Board
public import FoundationEssentials
import Gateway
import GatewayServices
public import Groundwork
import Messaging
import Prompts
import Proximity

/// Something that happened in the agent, for `latchkey status --follow`, programs and the log.
public struct AgentEvent: Sendable {
    public let time: Date
    /// What happened. The agent's reactions depend on this alone.
    let source: Source
    /// A stable name for programs: `room.what-happened`.
    public let name: String
    public let severity: EventReport.Severity
    /// The details; nothing secret.
    public let details: [String: JSON]

    /// The origin of an event.
    enum Source: Sendable {
        case gateway(GatewayEvent)
        case broker(MessengerEvent)
        case outbox(OutboxEvent)
        case items(ItemEvent)
        case message(MessageEvent)
        case network(NetworkEvent)
        case inbox(InboxEvent)
        case action(ActionEvent)
        case grant(GrantEvent)
        case mpin(MPinEvent)
        case firstBoot(FirstBootEvent)
        case prompt(PromptEvent)
        case proximity(ProximityEvent)
        case button(ButtonEvent)
        case sensor(SensorEvent)
        case own(OwnEvent)
        /// An account other than the default one.
        indirect case account(AccountName, Source)
        /// At the connection to a broker that the settings name.
        indirect case named(String, Source)
        /// At the connection of the logged-in user.
        indirect case user(Source)

        /// The same without its account: what happened, at whichever it was.
        var ofAnyAccount: Source { if case .account(_, let source) = self { source.ofAnyAccount } else { self } }

        fileprivate var report: EventReport {
            switch self {
            case .gateway(let event): event.report
            case .broker(let event): event.report
            case .outbox(let event): event.report
            case .items(let event): event.report
            case .message(let event): event.report
            case .network(let event): event.report
            case .inbox(let event): event.report
            case .action(let event): event.report
            case .grant(let event): event.report
            case .mpin(let event): event.report
            case .firstBoot(let event): event.report
            case .prompt(let event): event.report
            case .proximity(let event): event.report
            case .button(let event): event.report
            case .sensor(let event): event.report
            case .own(let event): event.report
            case .account(_, let source), .user(let source), .named(_, let source): source.report
            }
        }
    }

    init(_ source: Source, at time: Date) {
        self.time = time
        self.source = source
        let report = source.report
        name = report.name
        let isOfUser = if case .user = source.ofAnyAccount { true } else { false }
        // The board works without its user's connection, and those to other brokers.
        var connection: String?
        if case .named(let name, _) = source { connection = name }
        severity = (isOfUser || connection != nil) && report.severity == .trouble ? .notable : report.severity
        var details = report.fields
        if case .account(let name, _) = source { details["account"] = .string(name.text) }
        if isOfUser { details["as"] = "user" }
        details["connection"] = connection.map(JSON.string)
        if let message = report.message { details["message"] = .string(message) }
        if let error = report.error { details.merge(error.explanation) { _, new in new } }
        self.details = details
    }

    /// How long a problem is shown that no event ends, such as dropped messages, in seconds.
    static let shownSeconds: TimeInterval = 86_400

    public var json: JSON {
        .object(
            details.merging(
                ["event": .string(name), "time": .string(time.formatted(.iso8601))], uniquingKeysWith: { _, own in own }
            ))
    }
}

extension Error {
    /// The explanation of an error, as members of an event or of a part of the status.
    var explanation: [String: JSON] { Explanation(of: self).members }
}
