import FoundationEssentials
import Glibc
import Groundwork
import Logging

/// Writes one line per entry to standard error, for a terminal or a supervisor other than systemd.
package struct StandardErrorLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level
    package var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let isTerminal: Bool

    /// - Parameter level: the lowest level that is logged.
    package init(label: String, level: Logger.Level) {
        self.label = label
        logLevel = level
        isTerminal = isatty(STDERR_FILENO) == 1
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let line = Array((text(of: event, at: Date()) + "\n").utf8)
        // One call per line, so that lines of several threads do not mix.
        _ = write(STDERR_FILENO, line, line.count)
    }

    package func text(of event: LogEvent, at time: Date) -> String {
        let fields = event.fields(beside: metadata, metadataProvider).sorted { $0.key < $1.key }
            .map { " \($0.key)=\($0.value)" }.joined()
        let level = "\(event.level)"
        let shown = isTerminal ? "\(color(of: event.level))\(level)\u{1B}[0m" : level
        let padding = String(repeating: " ", count: max(1, 8 - level.count))
        let text = DisplayText.oneLine("\(event.message)\(fields)")
        return "\(time.formatted(.iso8601)) \(shown)\(padding)\(label): \(text)"
    }

    private func color(of level: Logger.Level) -> String {
        switch level {
        case .trace, .debug: "\u{1B}[2m"
        case .info: "\u{1B}[32m"
        case .notice: "\u{1B}[36m"
        case .warning: "\u{1B}[33m"
        case .error, .critical: "\u{1B}[31m"
        }
    }
}
