import Groundwork
import HTTPClient

/// State shared by all connections of a running server.
final class ServerContext: Sendable {
    let library: MicroHTTPD
    let router: Router
    let policy: AccessPolicy
    let limits: LocalServer.Limits
    /// Requests in progress of each user.
    let requests: UserShares
    /// Connections of each user.
    let connections: UserShares
    let deadlines: RequestDeadlines
    let runningExchanges = RunningExchanges()
    let record: AnswerRecord?
    /// What requests pass that come from the console's page; `nil` on the Unix socket.
    let console: ConsoleDoor?

    private struct State {
        var exchanges: [ObjectIdentifier: Exchange] = [:]
        var isStopping = false
        var isOutOfTime = false
    }
    private let state = AsyncCondition(State())

    init(
        _ library: MicroHTTPD, router: Router, policy: AccessPolicy, limits: LocalServer.Limits,
        console: ConsoleDoor? = nil
    ) {
        self.library = library
        self.router = router
        self.policy = policy
        self.limits = limits
        requests = UserShares(limit: limits.requestsPerUser, othersLimit: limits.requestsOfOthers)
        connections = UserShares(limit: limits.connectionsPerUser, othersLimit: limits.connectionsOfOthers)
        deadlines = RequestDeadlines(limit: limits.request)
        self.console = console
        // The page's files are not JSON, and the other answers are those of the Unix socket.
        record = console == nil ? AnswerRecord(of: router) : nil
    }

    /// - Returns: whether the exchange may proceed; it may not while the server is stopping.
    func add(_ exchange: Exchange) -> Bool {
        state.change { state in
            state.exchanges[ObjectIdentifier(exchange)] = exchange
            return !state.isStopping
        }
    }

    func remove(_ exchange: Exchange) { state.change { $0.exchanges[ObjectIdentifier(exchange)] = nil } }

    /// Gives every request its last answer and every stream its last event. libmicrohttpd cannot stop while a
    /// connection is suspended.
    func stop() {
        let exchanges = state.change { state in
            state.isStopping = true
            return Array(state.exchanges.values)
        }
        for exchange in exchanges { exchange.stop() }
    }

    /// The headers of an answer: one to a browser also says what it may do with the page.
    func headers(of answer: LocalResponse) -> HTTPHeaders {
        console == nil ? answer.headers : HTTPHeaders(answer.headers.fields + ConsoleGate.securityHeaders.fields)
    }

    /// Ends the requests and streams of sessions of the console.
    func stop(sessions: Set<Int>) {
        guard !sessions.isEmpty else { return }
        let exchanges = state.read { Array($0.exchanges.values) }
        for exchange in exchanges where exchange.session.map(sessions.contains) == true { exchange.stop() }
    }

    /// Waits until the last answers are written, at most for the limit.
    func finish(within limit: Duration) async {
        let timer = Task {
            try await Task.sleep(for: limit)
            state.change { $0.isOutOfTime = true }
        }
        await state.wait { $0.exchanges.isEmpty || $0.isOutOfTime ? () : nil }
        timer.cancel()
    }
}
