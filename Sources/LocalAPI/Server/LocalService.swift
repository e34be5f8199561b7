import Synchronization

/// What all connections of a running server share.
final class LocalService: Sendable {
    let library: MicroHTTPD
    let router: Router
    let policy: AccessPolicy
    let limits: LocalServer.Limits
    /// Requests under way of each user.
    let requests: UserShares
    /// Connections of each user.
    let connections: UserShares
    let deadlines: RequestDeadlines
    let sleepers = Sleepers()
    let record: AnswerRecord?

    private struct State {
        var exchanges: [ObjectIdentifier: Exchange] = [:]
        var isStopping = false
        var stopped: CheckedContinuation<Void, Never>?

        mutating func takeStopped() -> CheckedContinuation<Void, Never>? {
            defer { stopped = nil }
            return stopped
        }
    }
    private let state = Mutex(State())

    init(_ library: MicroHTTPD, router: Router, policy: AccessPolicy, limits: LocalServer.Limits) {
        self.library = library
        self.router = router
        self.policy = policy
        self.limits = limits
        requests = UserShares(limit: limits.requestsPerUser, othersLimit: limits.requestsOfOthers)
        connections = UserShares(limit: limits.connectionsPerUser, othersLimit: limits.connectionsOfOthers)
        deadlines = RequestDeadlines(limit: limits.request)
        record = AnswerRecord(of: router)
    }

    /// - Returns: whether the exchange may go on; it may not when the server is stopping.
    func add(_ exchange: Exchange) -> Bool {
        state.withLock { state in
            state.exchanges[ObjectIdentifier(exchange)] = exchange
            return !state.isStopping
        }
    }

    func remove(_ exchange: Exchange) {
        let stopped = state.withLock { state in
            state.exchanges[ObjectIdentifier(exchange)] = nil
            return state.exchanges.isEmpty ? state.takeStopped() : nil
        }
        stopped?.resume()
    }

    /// Gives every request its last answer and every stream its last event. libmicrohttpd cannot stop while a
    /// connection sleeps.
    func stop() {
        let exchanges = state.withLock { state in
            state.isStopping = true
            return Array(state.exchanges.values)
        }
        for exchange in exchanges { exchange.stop() }
    }

    /// Waits until the last answers are written, but not longer than the limit.
    func finish(within limit: Duration) async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                guard !state.exchanges.isEmpty else { return true }
                state.stopped = continuation
                return false
            }
            guard !isDone else { return continuation.resume() }
            Task {
                try await Task.sleep(for: limit)
                state.withLock { $0.takeStopped() }?.resume()
            }
        }
    }

    func answer(to error: any Error) -> LocalResponse { .error(error) }
}
