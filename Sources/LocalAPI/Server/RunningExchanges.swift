import Synchronization

/// The exchanges with running handlers, so that slow ones notice when their client disconnects.
///
/// Most handlers are done at once: a watch is made only for those still running after a second. Sleeps while there
/// are none.
final class RunningExchanges: Sendable {
    private struct State {
        var waiting: [ObjectIdentifier: (exchange: LocalExchange, since: ContinuousClock.Instant)] = [:]
        var isAwake = false
    }
    private let state = Mutex(State())

    private static let patience = Duration.seconds(1)

    func add(_ exchange: LocalExchange) {
        let starts = state.withLock { state in
            state.waiting[ObjectIdentifier(exchange)] = (exchange, .now)
            defer { state.isAwake = true }
            return !state.isAwake
        }
        if starts { Task { await watch() } }
    }

    func remove(_ exchange: LocalExchange) {
        state.withLock { _ = $0.waiting.removeValue(forKey: ObjectIdentifier(exchange)) }
    }

    private func watch() async {
        while let next = look() { try? await Task.sleep(until: next, clock: .continuous) }
    }

    /// - Returns: when to check again; `nil` if there is nothing to check.
    private func look() -> ContinuousClock.Instant? {
        let (late, next) = state.withLock { state in
            let now = ContinuousClock.now
            let late = state.waiting.filter { $0.value.since + Self.patience <= now }
            for key in late.keys { state.waiting[key] = nil }
            let next = state.waiting.values.map { $0.since + Self.patience }.min()
            state.isAwake = next != nil
            return (late.values.map(\.exchange), next)
        }
        for exchange in late { exchange.watchForHangUp() }
        return next
    }
}
