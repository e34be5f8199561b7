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

    /// Stable and for programs: `family.what-happened`.
    public let name: String
    public let severity: Severity
    /// One line for a person; `nil` if the name is sufficient.
    public let message: String?
    /// The error of the event; the report includes its code, message and remedy.
    public let error: (any Error)?
    /// The subject of the event; contains no secrets.
    public let fields: [String: JSON]
    /// What it is trouble with, for an event of that severity; `nil` if no other event ends it.
    public let raises: Trouble?
    /// The troubles that it ends.
    public let ends: Set<Trouble>

    public init(
        _ name: String, _ severity: Severity, _ message: String? = nil, _ fields: [String: JSON] = [:],
        raises trouble: Trouble? = nil, ends: Set<Trouble> = []
    ) {
        self.name = name
        self.severity = severity
        self.message = message
        error = nil
        self.fields = fields
        raises = trouble
        self.ends = ends
    }

    public init(
        _ name: String, error: any Error, as severity: Severity = .trouble, _ fields: [String: JSON] = [:],
        raises trouble: Trouble? = nil
    ) {
        self.name = name
        self.severity = severity
        message = nil
        self.error = error
        self.fields = fields
        raises = trouble
        ends = []
    }
}

/// Something that stays wrong until an event ends it: the connection to the broker, say, or the renewal of the
/// certificate. Each is a constant of the room whose events raise it.
public struct Trouble: Hashable, Sendable {
    public let name: String

    public init(_ name: String) { self.name = name }
}

/// An event with everything that is said of it.
public protocol ReportedEvent: Sendable {
    /// What each of its names means: one sentence without its period. The first part of a name is its family.
    static var meanings: [String: String] { get }

    /// The schemas of its details, beside those that all events have.
    static var details: [String: Schema] { get }

    /// In one switch over its cases: name, severity, text, details, and the troubles that it raises or ends.
    var report: EventReport { get }
}

extension ReportedEvent {
    public static var details: [String: Schema] { [:] }
}
