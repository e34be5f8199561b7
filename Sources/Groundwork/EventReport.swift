/// The report of an event to people, to programs and in the log.
///
/// It is created from the event and only for output: code that reacts to an event uses the event's case, never its
/// report.
public struct EventReport: Sendable {
    public enum Severity: Sendable, Equatable {
        /// Of interest only to people who look for it.
        case routine
        case notable
        /// A person should look.
        case trouble
    }

    /// Stable and for programs: `module.what-happened`.
    public let name: String
    public let severity: Severity
    /// One line for a person; `nil` if the name is sufficient.
    public let message: String?
    /// The error of the event; the report includes its code, message and remedy.
    public let error: (any Error)?
    /// The subject of the event; contains no secrets.
    public let fields: [String: JSON]

    public init(_ name: String, _ severity: Severity, _ message: String? = nil, _ fields: [String: JSON] = [:]) {
        self.name = name
        self.severity = severity
        self.message = message
        error = nil
        self.fields = fields
    }

    public init(_ name: String, error: any Error, as severity: Severity = .trouble, _ fields: [String: JSON] = [:]) {
        self.name = name
        self.severity = severity
        message = nil
        self.error = error
        self.fields = fields
    }
}

/// An event that defines its reports in one switch over its cases.
public protocol ReportedEvent: Sendable {
    var report: EventReport { get }
}
