import Connectivity
import FoundationEssentials
import Synchronization

/// The network as the agent sees it, and who waits for it.
package final class NetworkWatch: Sendable {
    private struct State {
        /// Since when the network is in this state.
        var since = Date.distantPast
        /// What was last applied to those who wait.
        var outlook: NetworkOutlook?
        /// Whether a change waits to be applied.
        var isSettling = false
    }

    /// Changes come in groups, and a fleet that gets its network back must not come to the gateway all at once.
    private static let settling = 0.2...3.0
    /// The least time between attempts while there is no network. What the kernel says is not relied upon alone.
    package static let delayWithoutNetwork = Duration.seconds(60)

    package let monitor = NetworkMonitor()
    private let state = Mutex(State())

    package var since: Date { state.withLock { $0.since } }

    /// Begins to follow the network.
    package func start(at now: Date) {
        monitor.start()
        state.withLock { ($0.since, $0.outlook) = (now, monitor.outlook) }
    }

    package func noteChange(at now: Date) { state.withLock { $0.since = now } }

    /// Whether there is certainly no way to this host.
    package func isCutOff(from host: String) -> Bool { monitor.state == .none && !Self.isOfThisMachine(host) }

    package static func isOfThisMachine(_ host: String) -> Bool {
        host == "localhost" || host.hasSuffix(".localhost") || ["::1", "[::1]"].contains(host) || host.hasPrefix("127.")
    }

    /// The least delay before another attempt to reach this host.
    package func leastDelay(to host: String) -> Duration { isCutOff(from: host) ? Self.delayWithoutNetwork : .zero }

    /// Suspends the caller for a delay, or until there is a network to try again with.
    ///
    /// - Returns: whether there is.
    package func pause(for delay: Duration) async -> Bool { await monitor.pause(for: delay) }

    /// Calls `apply` once the network has settled, once for all changes until then.
    ///
    /// - Parameter apply: is given whether those who wait should try again.
    package func settle(then apply: @escaping @Sendable (Bool) async -> Void) {
        let isFirst = state.withLock { state in
            defer { state.isSettling = true }
            return !state.isSettling
        }
        guard isFirst else { return }
        Task {
            try? await Task.sleep(for: .seconds(Double.random(in: Self.settling)))
            let hasReturned = state.withLock { state in
                state.isSettling = false
                let outlook = monitor.outlook
                defer { state.outlook = outlook }
                return outlook != nil && outlook != state.outlook
            }
            if hasReturned { monitor.endPauses() }
            await apply(hasReturned)
        }
    }
}
