import FoundationEssentials
import Groundwork
import Logging
import Synchronization

/// The agent's newest log entries, in memory, for people who do not have the journal before them.
final class RecentLog: Sendable {
    static let shared = RecentLog()
    /// The most entries that are kept, and the most characters of each.
    static let limit = 200
    static let textLimit = 512

    struct Entry: Sendable {
        let time: Date
        let level: Logger.Level
        let service: String
        let text: String

        var json: JSON {
            [
                "time": .string(time.formatted(.iso8601)), "level": .string("\(level)"), "service": .string(service),
                "text": .string(text),
            ]
        }
    }

    private let kept = Mutex<[Entry]>([])
    private let coming = Broadcast<Entry>()

    var entries: [Entry] { kept.withLock { $0 } }

    func add(_ entry: Entry) {
        kept.withLock { kept in
            if kept.count >= Self.limit { kept.removeFirst(kept.count - Self.limit + 1) }
            kept.append(entry)
            // Inside the lock, so that a follower gets each entry once.
            coming.enqueue(entry)
        }
        coming.deliver()
    }

    /// - Returns: the entries until now, and those from now on.
    func follow() -> (past: [Entry], coming: AsyncStream<Entry>) {
        kept.withLock { ($0, coming.subscribe()) }
    }
}

/// Hands log entries to ``RecentLog``, beside the handler that writes them.
struct RecentLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level
    var metadataProvider: Logger.MetadataProvider?
    let label: String
    let recent: RecentLog

    init(label: String, level: Logger.Level, in recent: RecentLog = .shared) {
        self.label = label
        logLevel = level
        self.recent = recent
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = event.fields(beside: metadata, metadataProvider).sorted { $0.key < $1.key }
            .map { " \($0.key)=\($0.value)" }.joined()
        let text = DisplayText.oneLine("\(event.message)\(fields)").prefix(RecentLog.textLimit)
        recent.add(RecentLog.Entry(time: Date(), level: event.level, service: label, text: String(text)))
    }
}
