/// Notifies systemd's watchdog, as often as it asks for, but only while the agent's actors respond.
struct Watchdog: Service {
    let notifier: ServiceNotifier
    /// Returns when the agent's actors have responded.
    let probe: @Sendable () async -> Void

    func run() async {
        guard let interval = notifier.watchdogInterval else { return }
        while !Task.isCancelled {
            await probe()
            notifier.alive()
            // sd_watchdog_enabled(3) advises half the interval.
            try? await Task.sleep(for: interval / 2)
        }
    }
}
