import FoundationEssentials
import Glibc
import Groundwork

/// Reports the state of the service to systemd (`sd_notify(3)`, by its documented protocol; without libsystemd, which
/// would map seven more libraries for five lines of text).
package struct ServiceNotifier: Sendable {
    private let socket: UnixDatagram?

    /// How often systemd expects a sign of life, or `nil` if it does not watch the service (`WATCHDOG_USEC`).
    package let watchdogInterval: Duration?

    /// - Parameter environment: read for `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`; without them every call
    ///   does nothing.
    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        socket = environment["NOTIFY_SOCKET"].map(UnixDatagram.init(path:))
        let isForUs = environment["WATCHDOG_PID"].map { $0 == String(getpid()) } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) }
        watchdogInterval = isForUs ? microseconds.flatMap { $0 > 0 ? .microseconds($0) : nil } : nil
    }

    /// The service has started.
    ///
    /// - Parameter status: what `systemctl status` shows, on one line.
    package func ready(_ status: String) { send("READY=1\nSTATUS=\(DisplayText.oneLine(status))") }

    /// The service is alive; expected within every ``watchdogInterval``.
    package func alive() { send("WATCHDOG=1") }

    /// The service is about to end.
    package func stopping() { send("STOPPING=1") }

    private func send(_ text: String) { socket?.send(Array(text.utf8)) }
}
