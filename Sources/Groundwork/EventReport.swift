/// What is told of something that happened: to people, to programs and in the log.
///
/// It is made of the event itself and only put out. What the program does about an event it decides by the event's
/// case, never by what is told of it.
public struct EventReport: Sendable {
    public enum Severity: Sendable, Equatable {
        /// Nobody needs to see it unless they look for it.
        case routine
        case notable
        /// A person should look.
        case trouble
    }

    /// Stable and for programs: `room.what-happened`.
    public let name: String
    public let severity: Severity
    /// One line for a person; `nil` where the name says it all.
    public let message: String?
    /// The error it tells of. Its own code, message and remedy are told.
    public let error: (any Error)?
    /// What it happened to; nothing secret.
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

/// Something that happened, which says all that is told of it in one switch over its cases.
public protocol ReportedEvent: Sendable {
    var report: EventReport { get }
}
