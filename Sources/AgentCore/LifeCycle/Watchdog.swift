/// Notifies systemd's watchdog, as often as it asks for, but only while the agent's actors respond.
package struct Watchdog: Service {
    package let notifier: ServiceNotifier
    /// Returns when the agent's actors have responded.
    package let probe: @Sendable () async -> Void

    package init(notifier: ServiceNotifier, _ probe: @escaping @Sendable () async -> Void) {
        self.notifier = notifier
        self.probe = probe
    }

    package func run() async {
        guard let interval = notifier.watchdogInterval else { return }
        while !Task.isCancelled {
            await probe()
            notifier.alive()
            // sd_watchdog_enabled(3) advises half the interval.
            try? await Task.sleep(for: interval / 2)
        }
    }
}
