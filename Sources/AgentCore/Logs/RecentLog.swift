import FoundationEssentials
import Groundwork
import Logging
import Synchronization

/// The agent's newest log entries, in memory, for people who do not have the journal before them.
package final class RecentLog: Sendable {
    package static let shared = RecentLog()
    /// The most entries that are kept, and the most characters of each.
    package static let limit = 200
    package static let textLimit = 512

    package struct Entry: Answered {
        package let time: Date
        package let level: Logger.Level
        package let service: String
        package let text: String

        package static let answer: Answer<Entry> = [
            "time": .of("time of the entry") { $0.time },
            "level": .of("severity, such as info or warning") { "\($0.level)" },
            "service": .of("the part of the agent that logged it") { $0.service },
            "text": .of("the entry, in one line") { $0.text },
        ]
    }

    private let kept = Mutex<[Entry]>([])
    private let coming = Broadcast<Entry>()

    package var entries: [Entry] { kept.withLock { $0 } }

    package func add(_ entry: Entry) {
        kept.withLock { kept in
            if kept.count >= Self.limit { kept.removeFirst(kept.count - Self.limit + 1) }
            kept.append(entry)
            // Inside the lock, so that a follower gets each entry once.
            coming.enqueue(entry)
        }
        coming.deliver()
    }

    /// - Returns: the entries until now, and those from now on.
    package func follow() -> (past: [Entry], coming: AsyncStream<Entry>) {
        kept.withLock { ($0, coming.subscribe()) }
    }
}

/// Hands log entries to ``RecentLog``, beside the handler that writes them.
package struct RecentLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level
    package var metadataProvider: Logger.MetadataProvider?
    package let label: String
    package let recent: RecentLog

    package init(label: String, level: Logger.Level, in recent: RecentLog = .shared) {
        self.label = label
        logLevel = level
        self.recent = recent
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let fields = event.fields(beside: metadata, metadataProvider).sorted { $0.key < $1.key }
            .map { " \($0.key)=\($0.value)" }.joined()
        let text = DisplayText.oneLine("\(event.message)\(fields)").prefix(RecentLog.textLimit)
        recent.add(RecentLog.Entry(time: Date(), level: event.level, service: label, text: String(text)))
    }
}
