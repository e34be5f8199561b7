import FoundationEssentials
import Groundwork

/// Something that happened in the agent, for `latchkey status --follow`, programs and the log.
package struct AgentEvent: Sendable {
    /// Which connection to a broker an event is about.
    package enum Connection: Sendable, Equatable {
        /// The board's own, or none.
        case board
        /// That of the user who is logged in.
        case user
        /// To a broker that the settings name.
        case named(String)
    }

    package let time: Date
    /// What happened. The agent's reactions depend on its type and case alone.
    package let event: any ReportedEvent
    package let account: AccountName
    package let connection: Connection
    /// A stable name for programs: `family.what-happened`.
    package let name: String
    package let severity: EventReport.Severity
    /// The details; nothing secret.
    package let details: [String: JSON]
    /// What it is trouble with, if an event can end that.
    package let raises: Trouble?
    /// The troubles of the account that it ends.
    package let ends: Set<Trouble>

    /// - Parameter ends: troubles of other rooms that it ends too, beside those of its own.
    package init(
        _ event: any ReportedEvent, of account: AccountName = .gateway, over connection: Connection = .board,
        ends: Set<Trouble> = [], at time: Date
    ) {
        self.time = time
        self.event = event
        self.account = account
        self.connection = connection
        let report = event.report
        name = report.name
        // The board works without its user's connection, and those to other brokers.
        let isOfBoard = connection == .board
        severity = !isOfBoard && report.severity == .trouble ? .notable : report.severity
        raises = report.raises
        self.ends = isOfBoard ? report.ends.union(ends) : []
        var details = report.fields
        if account != .gateway { details["account"] = .string(account.text) }
        switch connection {
        case .board: break
        case .user: details["as"] = "user"
        case .named(let name): details["connection"] = .string(name)
        }
        if let message = report.message { details["message"] = .string(message) }
        if let error = report.error { details.merge(error.explanation) { _, new in new } }
        self.details = details
    }

    /// The event, if it is about the board itself and of this type.
    ///
    /// - Parameter account: `nil` for any.
    package func ofBoard<Event: ReportedEvent>(_ type: Event.Type, at account: AccountName? = .gateway) -> Event? {
        guard connection == .board, account == nil || account == self.account else { return nil }
        return event as? Event
    }

    package var json: JSON {
        .object(
            details.merging(
                ["event": .string(name), "time": .string(time.formatted(.iso8601))], uniquingKeysWith: { _, own in own }
            ))
    }
}

extension Error {
    /// The explanation of an error, as members of an event or of a part of the status.
    package var explanation: [String: JSON] { Explanation(of: self).members }
}
