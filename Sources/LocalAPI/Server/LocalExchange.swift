import CMicroHTTPD
import HTTPClient
import Synchronization

/// One request and its answer. libmicrohttpd's callbacks come on its thread; the route's handler runs in a task.
///
/// libmicrohttpd retains it from the first line of the request until its completion callback; the task retains it
/// until the handler is done.
final class LocalExchange: ServedExchange, @unchecked Sendable {
    // `@unchecked Sendable` is correct because `target` and the variables down to `drained` are used on libmicrohttpd's
    // thread only, and everything shared with the task and a stopping server is in `state`.
    private let connection: SuspendableConnection
    private let peerConnection: PeerConnection
    private let service: ServerContext
    private let target: [UInt8]

    private enum Admission {
        case pending
        case granted(Router.Route, LocalRequest)
        case refused(LocalResponse)
    }
    private var admission = Admission.pending
    private var method = ""
    private var isHead = false
    /// Whether a stream's bytes are the body as they are, which ends with the connection (RFC 9112 section 6.3).
    private var isUnframed = false
    private var form = StreamForm.serverSent
    /// Bytes of a refused request's body that were read and discarded.
    private var drained = 0

    private struct State {
        var answer: LocalResponse?
        var ends = ExchangeEnds()
        /// The route of an admitted request.
        var route: Router.Route?
        /// The console's session of an admitted request.
        var session: Int?
        var feed: EventFeed?
    }
    private let state = Mutex(State())

    init(_ connection: OpaquePointer, target: [UInt8], of peer: PeerConnection, service: ServerContext) {
        self.connection = SuspendableConnection(connection, of: service.library)
        self.target = target
        self.service = service
        peerConnection = peer
    }

    // MARK: On libmicrohttpd's thread

    func handle(_ method: String, _ version: String, _ body: UnsafeRawBufferPointer, left: inout Int) -> Bool {
        left = 0
        if let answer = state.withLock(\.answer) { return queue(answer) }
        switch admission {
        case .pending:
            self.method = method
            isUnframed = version == "HTTP/1.0" && !service.isOnTCP
            return admit(method)
        case .granted(let route, var request) where !body.isEmpty:
            guard request.body.count + body.count <= service.limits.bodyBytes else {
                return refuse(.bodyTooLarge(limit: service.limits.bodyBytes))
            }
            // Leaves one reference to the bytes, so that they are appended in place.
            admission = .pending
            request.body += body
            admission = .granted(route, request)
            return true
        case .granted(let route, let request):
            service.deadlines.forget(peerConnection.descriptor)
            state.withLock { $0.route = route }
            run(route, request)
            service.runningExchanges.add(self)
            if connection.suspend(unless: { state.withLock { $0.answer != nil } }) { return true }
            // The handler finished before this thread suspended the connection.
            return queue(state.withLock(\.answer) ?? .error(LocalAPIError.stopping))
        case .refused where !body.isEmpty:
            // Most programs read the answer only after sending everything.
            drained += body.count
            return drained <= drainLimit
        case .refused(let answer):
            return queue(answer)
        }
    }

    private var drainLimit: Int { 8 * service.limits.bodyBytes }

    /// Decides on the head alone: the body of a refused request is not kept.
    private func admit(_ method: String) -> Bool {
        isHead = method == "HEAD"
        let headers = HTTPHeaders(of: connection.handle, in: service.library)
        let announced = headers.first("Content-Length").flatMap { Int($0) } ?? 0
        guard headers.haveOneBodyLength else {
            var answer = LocalResponse.error(LocalAPIError.badBody(reason: "must state its length in exactly one way"))
            // It is unclear where the next request would begin.
            answer.headers.set("Connection", "close")
            return queue(answer)
        }
        do {
            let head = RequestHead(
                method: method, target: target, headers: headers, announcedBytes: announced,
                bytes: latchkey_http_head_size(service.library.table, connection.handle), peer: peerConnection.peer)
            let admitted = try service.admit(head, isStopping: state.withLock(\.ends.isStopping))
            state.withLock { ($0.ends.place, $0.session) = (admitted.place, admitted.session) }
            if let form = admitted.form { self.form = form }
            admission = .granted(admitted.route, admitted.request)
            return true
        } catch {
            guard headers.first("Expect") == nil, announced <= drainLimit else {
                return queue(.error(error))
            }
            return refuse(error)
        }
    }

    private func refuse(_ error: LocalAPIError) -> Bool {
        admission = .refused(.error(error))
        return true
    }

    private func queue(_ answer: LocalResponse) -> Bool {
        service.deadlines.forget(peerConnection.descriptor)
        service.runningExchanges.remove(self)
        record(answer)
        var headers = service.headers(of: answer)
        let http = service.library.calls
        let response: OpaquePointer?
        switch answer.body {
        case .bytes(let bytes): response = http.response(of: bytes)
        case .events(let production):
            headers.add("Content-Type", form.mediaType)
            response = isHead ? http.response() : http.response(from: stream(production))
        }
        return http.queue(response, answer.status, headers, on: connection.handle)
    }

    private func record(_ answer: LocalResponse) {
        guard let record = service.record else { return }
        var (route, body): (Router.Route?, [UInt8]?) = (nil, nil)
        if case .granted(let granted, let request) = admission { (route, body) = (granted, request.body) }
        record.write(answer, to: method, target, of: route, request: body)
    }

    private func stream(_ production: @escaping LocalResponse.Production) -> EventFeed {
        let feed = EventFeed(connection, unframed: isUnframed ? peerConnection.descriptor : nil)
        let watch = makeWatch { feed.end() }
        let isStopping = state.withLock { state in
            state.feed = feed
            state.ends.handlerGoesOn(watchedBy: watch)
            return state.ends.isStopping
        }
        if isStopping { feed.end(with: last(LocalAPIError.stopping)) }
        produce(production, into: feed)
        return feed
    }

    /// Called when the request begins: the server may stop from now on.
    func begin() {
        service.deadlines.begin(peerConnection.descriptor)
        if !service.add(self) { stop() }
    }

    /// Called when the answer is written or the connection is gone.
    func complete() {
        let (task, feed, session) = state.withLock { ($0.ends.connectionIsOver(), $0.feed, $0.session) }
        if let session { service.console?.finish(session) }
        feed?.end()
        task?.cancel()
        service.runningExchanges.remove(self)
        service.remove(self)
        service.deadlines.await(peerConnection.descriptor, isNew: false)
    }

    // MARK: On any thread

    private func run(_ route: Router.Route, _ request: LocalRequest) {
        let task = Task {
            let answer: LocalResponse
            do {
                answer = try await route.answer(request)
            } catch {
                answer = .error(error)
            }
            state.withLock { state in
                if state.answer == nil { state.answer = answer }
                state.ends.handlerIsOver()
            }
            connection.resume()
        }
        if state.withLock({ $0.ends.keep(task) }) { task.cancel() }
    }

    private func produce(_ production: @escaping LocalResponse.Production, into feed: EventFeed) {
        let task = Task {
            do {
                try await production(
                    StreamWriter(
                        form,
                        put: { [self] in
                            record(events: $0)
                            return await feed.send($0, through: $1)
                        },
                        add: { [self] make in
                            feed.offer {
                                let events = make()
                                record(events: events)
                                return events
                            }
                        }))
            } catch is CancellationError {
                // The reader is gone, or has been told that the server is stopping.
            } catch {
                feed.end(with: last(error))
            }
            feed.end()
            state.withLock { $0.ends.handlerIsOver() }
        }
        if state.withLock({ $0.ends.keep(task) }) { task.cancel() }
    }

    /// The last event of a stream that breaks off.
    private func last(_ error: any Error) -> [UInt8] {
        let bytes = form.bytes(of: LocalEvent(error))
        record(events: bytes)
        return bytes
    }

    private func record(events: [UInt8]) {
        if let record = service.record, let route = state.withLock(\.route) {
            record.write(events, in: form, to: route.method, of: route)
        }
    }

    /// The console's session that it belongs to.
    var session: Int? { state.withLock(\.session) }

    private func makeWatch(hangUp: @escaping @Sendable () -> Void) -> HangUpWatch? {
        HangUpWatch(peerConnection.descriptor, halfClosedIsGone: service.isOnTCP, hangUp: hangUp)
    }

    /// Called for a slow handler: if its client disconnects meanwhile, the handler's task is canceled.
    func watchForHangUp() {
        state.withLock { state in
            // While this lock is held the connection cannot complete, so the descriptor still belongs to it.
            guard state.ends.areOpen, state.ends.watch == nil, let task = state.ends.task else { return }
            state.ends.watch = makeWatch { task.cancel() }
        }
    }

    /// Called when the server stops: resumes the connection, which gets its last answer or event.
    func stop() {
        let (feed, task) = state.withLock { state in
            if state.answer == nil { state.answer = .error(LocalAPIError.stopping) }
            return (state.feed, state.ends.stop())
        }
        if let feed { feed.end(with: last(LocalAPIError.stopping)) }
        task?.cancel()
        connection.resume()
    }
}
