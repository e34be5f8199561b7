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
    /// What requests pass that come from the console's page; `nil` on any other listener.
    let console: ConsoleDoor?
    /// What requests pass that come with a token; `nil` on any other listener.
    let token: TokenDoor?
    /// Whether its peers come over TCP, where the kernel does not say who they are.
    var isOnTCP: Bool { console != nil || token != nil }
    let units: LocalServer.Units
    /// What answers the requests of a relay's socket; `nil` on any other.
    let relay: Relay?
    /// What serves the connections of the relay's socket, which the same thread handles.
    let relayed: ServerContext?

    private struct State {
        var exchanges: [ObjectIdentifier: any ServedExchange] = [:]
        var isStopping = false
        var isOutOfTime = false
    }
    private let state = AsyncCondition(State())

    init(
        _ library: MicroHTTPD, router: Router, policy: AccessPolicy, limits: LocalServer.Limits,
        console: ConsoleDoor? = nil, token: TokenDoor? = nil, units: @escaping LocalServer.Units = { nil },
        relay: Relay? = nil,
        relayed: ServerContext? = nil
    ) {
        self.units = units
        self.relay = relay
        self.relayed = relayed
        self.library = library
        self.router = router
        self.policy = policy
        self.limits = limits
        requests = UserShares(limit: limits.requestsPerUser, othersLimit: limits.requestsOfOthers)
        connections = UserShares(limit: limits.connectionsPerUser, othersLimit: limits.connectionsOfOthers)
        deadlines = RequestDeadlines(limit: limits.request)
        (self.console, self.token) = (console, token)
        // The page's files are not JSON, and the other answers are those of the Unix socket.
        record = console == nil && token == nil && relay == nil ? AnswerRecord(of: router) : nil
    }

    /// - Returns: whether the exchange may proceed; it may not while the server is stopping.
    func add(_ exchange: any ServedExchange) -> Bool {
        state.change { state in
            state.exchanges[ObjectIdentifier(exchange)] = exchange
            return !state.isStopping
        }
    }

    func remove(_ exchange: any ServedExchange) { state.change { $0.exchanges[ObjectIdentifier(exchange)] = nil } }

    /// Gives every request its last answer and every stream its last event. libmicrohttpd cannot stop while a
    /// connection is suspended.
    func stop() {
        let exchanges = state.change { state in
            state.isStopping = true
            return Array(state.exchanges.values)
        }
        for exchange in exchanges { exchange.stop() }
        relayed?.stop()
    }

    /// What serves a new connection: it is the relay's if it was made to the relay's socket.
    func context(of descriptor: Int32) -> ServerContext {
        guard let relayed, let relay = relayed.relay, ListeningSocket.path(of: descriptor) == relay.socketPath else {
            return self
        }
        return relayed
    }

    /// The headers of an answer: one to a browser also says what it may do with the page. Who comes without the token
    /// does not keep a place.
    func headers(of answer: LocalResponse) -> HTTPHeaders {
        var headers = answer.headers
        if console != nil { headers = HTTPHeaders(headers.fields + ConsoleGate.securityHeaders.fields) }
        if token != nil, answer.status == 401 || answer.status == 403 { headers.add("Connection", "close") }
        return headers
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
        await relayed?.finish(within: limit)
    }
}
