/// Tells systemd that the agent lives, as often as it asks to be told; but only when the agent's actors answer.
struct Watchdog: Service {
    let notifier: ServiceNotifier
    /// Returns when the agent's actors have answered.
    let probe: @Sendable () async -> Void

    func run() async {
        guard let interval = notifier.watchdogInterval else { return }
        while !Task.isCancelled {
            await probe()
            notifier.alive()
            // Half the interval is what sd_watchdog_enabled(3) advises.
            try? await Task.sleep(for: interval / 2)
        }
    }
}
