import Groundwork
import Logging
import Synchronization

/// Reports events to subscribers and to the log, and remembers the newest that needs a person's attention.
///
/// A separate part, so that the agent's parts can report before the agent exists.
final class EventReporter: Sendable {
    let events = Broadcast<AgentEvent>()
    private let logger: Logger
    private let newestTrouble = Mutex<AgentEvent?>(nil)

    init(_ logger: Logger) { self.logger = logger }

    func report(_ event: AgentEvent) {
        var fields: Logger.Metadata = [:]
        for (key, value) in event.details where key != "message" { fields[key] = "\(value.string ?? value.text)" }
        let level: Logger.Level =
            switch event.severity {
            case .routine: .debug
            case .notable: .info
            case .trouble: .warning
            }
        // Recorded before subscribers are notified: they must find it in the status.
        newestTrouble.withLock { newest in
            if event.severity == .trouble { newest = event }
            if let trouble = newest, event.ends(trouble) { newest = nil }
        }
        logger.log(
            level: level, "\(event.name)\(event.details["message"]?.string.map { ": \($0)" } ?? "")", metadata: fields)
        events.send(event)
    }

    /// The newest event that needs a person's attention.
    var lastTrouble: AgentEvent? { newestTrouble.withLock { $0 } }
}
