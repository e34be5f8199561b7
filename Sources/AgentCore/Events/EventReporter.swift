import FoundationEssentials
import Groundwork
import Logging
import Synchronization

/// Reports events to subscribers and to the log, and remembers those that need a person's attention.
///
/// A separate part, so that the agent's parts can report before the agent exists.
package final class EventReporter: Sendable {
    package let events = Broadcast<AgentEvent>()
    private let logger: Logger
    private let troubles = Mutex(Troubles())

    package init(_ logger: Logger) { self.logger = logger }

    package func report(_ event: AgentEvent) {
        var fields: Logger.Metadata = [:]
        for (key, value) in event.details where key != "message" { fields[key] = "\(value.string ?? value.text)" }
        let level: Logger.Level =
            switch event.severity {
            case .routine: .debug
            case .notable: .info
            case .trouble: .warning
            }
        // Recorded before subscribers are notified: they must find it in the status.
        troubles.withLock { $0.take(event) }
        logger.log(
            level: level, "\(event.name)\(event.details["message"]?.string.map { ": \($0)" } ?? "")", metadata: fields)
        events.send(event)
    }

    /// The newest event that needs a person's attention, until another one ends it or a day has passed.
    package func newestTrouble(at now: Date) -> AgentEvent? { troubles.withLock { $0.newest(at: now) } }
}
