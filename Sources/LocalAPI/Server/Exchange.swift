import CMicroHTTPD
import HTTPClient
import Synchronization

/// One request and its answer. libmicrohttpd's callbacks come on its thread; the route's handler runs in a task.
///
/// libmicrohttpd retains it from the first line of the request until its completion callback; the task retains it
/// until the handler is done.
final class Exchange: ServedExchange, @unchecked Sendable {
    // `target` and the variables down to `drained` are used on libmicrohttpd's thread only; everything shared with
    // the task and a stopping server is in `state`.
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
    private var form = StreamForm.serverSent
    /// Bytes of a refused request's body that were read and discarded.
    private var drained = 0

    private struct State {
        var answer: LocalResponse?
        var task: Task<Void, Never>?
        /// The route of an admitted request.
        var route: Router.Route?
        /// The console's session of an admitted request.
        var session: Int?
        var feed: EventFeed?
        var watch: HangUpWatch?
        /// The place in the user's quota of requests, while the handler runs or the answer is being written.
        var place: UserShares.Place?
        var handlerIsDone = false
        var connectionIsDone = false
        var isStopping = false

        mutating func settle() { if handlerIsDone && connectionIsDone { place = nil } }
    }
    private let state = Mutex(State())

    init(_ connection: OpaquePointer, target: [UInt8], of peer: PeerConnection, service: ServerContext) {
        self.connection = SuspendableConnection(connection, of: service.library)
        self.target = target
        self.service = service
        peerConnection = peer
    }

    // MARK: On libmicrohttpd's thread

    func handle(_ method: String, _: String, _ body: UnsafeRawBufferPointer, left: inout Int) -> Bool {
        left = 0
        if let answer = state.withLock(\.answer) { return queue(answer) }
        switch admission {
        case .pending:
            self.method = method
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
            let admitted = try service.admit(head, isStopping: state.withLock(\.isStopping))
            state.withLock { ($0.place, $0.session) = (admitted.place, admitted.session) }
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
        case .bytes(let bytes):
            response = bytes.withUnsafeBytes {
                http.create_response_from_buffer(
                    $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
            }
        case .events(let production):
            headers.add("Content-Type", form.mediaType)
            response = isHead ? http.create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT) : stream(production)
        }
        guard let response else { return false }
        defer { http.destroy_response(response) }
        for header in headers.fields { _ = http.add_response_header(response, header.name, header.value) }
        return http.queue_response(connection.handle, UInt32(answer.status), response) == .YES
    }

    private func record(_ answer: LocalResponse) {
        guard let record = service.record else { return }
        var (route, body): (Router.Route?, [UInt8]?) = (nil, nil)
        if case .granted(let granted, let request) = admission { (route, body) = (granted, request.body) }
        record.write(answer, to: method, target, of: route, request: body)
    }

    private func stream(_ production: @escaping LocalResponse.Production) -> OpaquePointer? {
        let feed = EventFeed(connection)
        let watch = makeWatch { feed.end() }
        let isStopping = state.withLock { state in
            state.feed = feed
            // A slow handler may already have one.
            state.watch?.stop()
            state.watch = watch
            state.handlerIsDone = false
            return state.isStopping
        }
        if isStopping { feed.end(with: last(LocalAPIError.stopping)) }
        produce(production, into: feed)
        return service.library.calls.create_response_from_callback(
            UInt64.max, 16 << 10,
            { feed, _, buffer, size in
                guard let feed, let buffer else { return latchkey_http_end_of_stream }
                return Unmanaged<EventFeed>.fromOpaque(feed).takeUnretainedValue()
                    .read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
            }, Unmanaged.passRetained(feed).toOpaque(),
            { feed in if let feed { Unmanaged<EventFeed>.fromOpaque(feed).release() } })
    }

    /// Called when the request begins: the server may stop from now on.
    func begin() {
        service.deadlines.begin(peerConnection.descriptor)
        if !service.add(self) { stop() }
    }

    /// Called when the answer is written or the connection is gone.
    func complete() {
        let (task, feed, watch, session) = state.withLock { state in
            state.connectionIsDone = true
            // Without a task there is no handler to wait for.
            if state.task == nil { state.handlerIsDone = true }
            state.settle()
            defer { state.watch = nil }
            return (state.task, state.feed, state.watch, state.session)
        }
        if let session { service.console?.finish(session) }
        watch?.stop()
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
                answer = try await route.handler(request)
            } catch {
                answer = .error(error)
            }
            state.withLock { state in
                if state.answer == nil { state.answer = answer }
                state.handlerIsDone = true
                state.settle()
            }
            connection.resume()
        }
        keep(task)
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
            state.withLock { state in
                state.handlerIsDone = true
                state.settle()
            }
        }
        keep(task)
    }

    /// Called before the connection can complete: on libmicrohttpd's thread, in a callback.
    private func keep(_ task: Task<Void, Never>) {
        let isStopping = state.withLock { state in
            state.task = task
            return state.isStopping
        }
        if isStopping { task.cancel() }
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
        HangUpWatch(peerConnection.descriptor, halfClosedIsGone: service.console != nil, hangUp: hangUp)
    }

    /// Called for a slow handler: if its client disconnects meanwhile, the handler's task is canceled.
    func watchForHangUp() {
        state.withLock { state in
            // While this lock is held the connection cannot complete, so the descriptor still belongs to it.
            guard !state.connectionIsDone, !state.handlerIsDone, state.watch == nil, let task = state.task else {
                return
            }
            state.watch = makeWatch { task.cancel() }
        }
    }

    /// Called when the server stops: resumes the connection, which gets its last answer or event.
    func stop() {
        let (feed, task) = state.withLock { state in
            state.isStopping = true
            if state.answer == nil { state.answer = .error(LocalAPIError.stopping) }
            return (state.feed, state.task)
        }
        if let feed { feed.end(with: last(LocalAPIError.stopping)) }
        task?.cancel()
        connection.resume()
    }
}
