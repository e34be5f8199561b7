import Synchronization

/// The exchanges whose handlers take their time, so that each learns when its program has gone.
///
/// Most handlers are done within a moment: a watch is made only for those that still work when a second is over. Sleeps while
/// there are none.
final class Sleepers: Sendable {
    private struct State {
        var waiting: [ObjectIdentifier: (exchange: Exchange, since: ContinuousClock.Instant)] = [:]
        var isAwake = false
    }
    private let state = Mutex(State())

    private static let patience = Duration.seconds(1)

    func add(_ exchange: Exchange) {
        let starts = state.withLock { state in
            state.waiting[ObjectIdentifier(exchange)] = (exchange, .now)
            defer { state.isAwake = true }
            return !state.isAwake
        }
        if starts { Task { await watch() } }
    }

    func remove(_ exchange: Exchange) {
        state.withLock { _ = $0.waiting.removeValue(forKey: ObjectIdentifier(exchange)) }
    }

    private func watch() async {
        while let next = look() { try? await Task.sleep(until: next, clock: .continuous) }
    }

    /// - Returns: when to look again; `nil` when there is nothing to look after.
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
