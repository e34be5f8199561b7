import FoundationEssentials
import Glibc
import Logging

/// Where the agent's log goes.
package enum Logs {
    /// To the journal when systemd connected standard error to it (`JOURNAL_STREAM`, `systemd.exec(5)`), else to
    /// standard error. Called once, before the first logger is made.
    package static func start(level: Logger.Level) {
        let toJournal = isConnectedToJournal(ProcessInfo.processInfo.environment["JOURNAL_STREAM"])
        LoggingSystem.bootstrap { label in
            let written: any LogHandler =
                toJournal
                ? JournalLogHandler(label: label, level: level) : StandardErrorLogHandler(label: label, level: level)
            return MultiplexLogHandler([written, RecentLogHandler(label: label, level: level)])
        }
    }

    /// The variable is inherited: standard error is the journal only if its device and inode match.
    package static func isConnectedToJournal(_ stream: String?) -> Bool {
        guard let stream else { return false }
        var status = stat()
        guard fstat(STDERR_FILENO, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }
}
