import Groundwork
import Logging
import Synchronization

/// Reports what happens to subscribers and to the log, and remembers what a person should look at.
///
/// A part of its own, so that the agent's parts can report before there is an agent.
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
        logger.log(
            level: level, "\(event.name)\(event.details["message"]?.string.map { ": \($0)" } ?? "")", metadata: fields)
        // Before it is told: whoever hears of it finds it in the status.
        newestTrouble.withLock { newest in
            if event.severity == .trouble { newest = event }
            if let trouble = newest, event.ends(trouble) { newest = nil }
        }
        events.send(event)
    }

    /// The newest event that a person should look at.
    var lastTrouble: AgentEvent? { newestTrouble.withLock { $0 } }
}
