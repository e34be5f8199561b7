import CMicroHTTPD
import HTTPClient
import Synchronization

/// One request to a relay and its answer, both passing in pieces. libmicrohttpd's callbacks come on its thread; what
/// answers runs in a task.
final class RelayExchange: ServedExchange, @unchecked Sendable {
    /// How much of a body is read and discarded, in bytes, because most programs read the answer only after sending
    /// everything.
    private static let drainLimit = 64 << 20

    // `@unchecked Sendable` is correct because `target` and the variables down to `drained` are used on libmicrohttpd's
    // thread only, and everything shared with the task and a stopping server is in `state`.
    private let connection: SuspendableConnection
    private let peerConnection: PeerConnection
    private let relay: Relay
    private let target: [UInt8]
    private var answering: Relay.Answering?
    private var body: RelayBody?
    private var hasBegun = false
    private var drained = 0

    private enum Answer {
        case whole(LocalResponse)
        case pieces(Int, HTTPHeaders, length: Int?, EventFeed)
    }
    private struct State {
        var answer: Answer?
        var ends = ExchangeEnds()
        var body: RelayBody?
        /// Ends the exchange when neither end moves.
        var stall: Task<Void, Never>?
    }
    private let state = Mutex(State())

    private var service: ServerContext { peerConnection.service }
    var session: Int? { nil }

    init(_ connection: OpaquePointer, target: [UInt8], of peer: PeerConnection, relay: Relay) {
        self.connection = SuspendableConnection(connection, of: peer.service.library)
        self.target = target
        self.relay = relay
        peerConnection = peer
    }

    // MARK: On libmicrohttpd's thread

    func begin() {
        service.deadlines.begin(peerConnection.descriptor)
        if !service.add(self) { stop() }
    }

    func handle(_ method: String, _ version: String, _ piece: UnsafeRawBufferPointer, left: inout Int) -> Bool {
        guard let body else {
            left = 0
            return admit(method, version)
        }
        guard !piece.isEmpty else {
            body.finish()
            start()
            watchForHangUp()
            let isSuspended = connection.suspend(unless: { state.withLock { $0.answer != nil } })
            return isSuspended || queueAnswer()
        }
        start()
        // Also while there is an answer: libmicrohttpd sends it after the body, and more of that may still be wanted.
        while true {
            switch body.offer(piece) {
            case .taken:
                left = 0
                return true
            case .discarded:
                drained += piece.count
                left = 0
                return drained <= Self.drainLimit
            case .full:
                if connection.suspend(unless: { body.hasRoom }) { return true }
            }
        }
    }

    /// Decides on the head alone.
    private func admit(_ method: String, _ version: String) -> Bool {
        service.deadlines.forget(peerConnection.descriptor)
        let headers = HTTPHeaders(of: connection.handle, in: service.library)
        var length: Int?
        do {
            guard latchkey_http_head_size(service.library.table, connection.handle) <= service.limits.headBytes else {
                throw LocalAPIError.headTooLarge(limit: service.limits.headBytes)
            }
            length = try RelayFraming.bodyLength(of: headers, version: version)
            let (policy, peer) = (service.policy, peerConnection.peer)
            let head = RelayHead(
                method: method, target: String(decoding: target, as: UTF8.self), headers: headers, peer: peer,
                isOwner: policy.isOwner(peer), mayOperate: policy.allows(peer, .operate))
            guard !state.withLock(\.ends.isStopping) else { throw LocalAPIError.stopping }
            let place = try take(peer, isOwner: head.isOwner)
            state.withLock { $0.ends.place = place }
            answering = try relay.open(head)
            body = RelayBody(length: length, of: connection)
            return true
        } catch {
            var answer = LocalResponse.error(error)
            // The body, which is not read, must not be taken for another request.
            if length != 0 { answer.headers.set("Connection", "close") }
            return queue(.whole(answer))
        }
    }

    private func take(_ peer: Peer, isOwner: Bool) throws(LocalAPIError) -> UserShares.Place {
        do throws(Shortage) {
            return try service.requests.take(peer.uid, isOwner: isOwner)
        } catch {
            throw .tooManyRequests(uid: peer.uid, error)
        }
    }

    private func start() {
        guard !hasBegun, let answering, let body else { return }
        hasBegun = true
        state.withLock { $0.body = body }
        let task = Task {
            var failure: (any Error)?
            do {
                try await answering(body, RelayWriter(self))
            } catch {
                failure = error
            }
            body.abandon()
            finish(with: failure)
        }
        if state.withLock({ $0.ends.keep(task) }) { task.cancel() }
    }

    private func watchForHangUp() {
        state.withLock { state in
            guard state.ends.areOpen, state.ends.watch == nil else { return }
            state.ends.watch = HangUpWatch(peerConnection.descriptor, halfClosedIsGone: false) { [self] in stop() }
        }
    }

    private func queueAnswer() -> Bool {
        guard let answer = state.withLock(\.answer) else { return false }
        return queue(answer)
    }

    private func queue(_ answer: Answer) -> Bool {
        let http = service.library.calls
        switch answer {
        case .whole(let answer):
            guard case .bytes(let bytes) = answer.body else { return false }
            return http.queue(http.response(of: bytes), answer.status, answer.headers, on: connection.handle)
        case .pieces(let status, let headers, let length, let feed):
            // Neither has a body (RFC 9110 sections 15.3.5 and 15.4.5).
            let isEmpty = status == 204 || status == 304
            let response = isEmpty ? http.response() : http.response(from: feed, length: length)
            return http.queue(response, status, headers, on: connection.handle)
        }
    }

    func complete() {
        let (task, answer) = state.withLock { state in
            state.stall?.cancel()
            return (state.ends.connectionIsOver(), state.answer)
        }
        body?.abandon()
        if case .pieces(_, _, _, let feed) = answer { feed.end() }
        task?.cancel()
        service.remove(self)
        service.deadlines.await(peerConnection.descriptor, isNew: false)
    }

    // MARK: On any thread

    func begin(_ status: Int, _ headers: HTTPHeaders, length: Int?) {
        let feed = EventFeed(connection)
        let isFirst = state.withLock { state in
            guard state.answer == nil else { return false }
            state.answer = .pieces(status, headers, length: length, feed)
            return true
        }
        guard isFirst else { return }
        connection.resume()
        if let body = state.withLock(\.body), body.received != nil { watch(body) }
    }

    /// An answer that has begun waits for the end of the body. An API that reads no further before its answer is read
    /// would wait forever: this ends it.
    private func watch(_ body: RelayBody) {
        let limit = service.limits.stall
        let task = Task {
            var last = -1
            while let received = body.received, received != last {
                last = received
                guard (try? await Task.sleep(for: limit)) != nil else { return }
            }
            if body.received != nil { stop() }
        }
        state.withLock { state in
            if state.ends.areOpen { state.stall = task } else { task.cancel() }
        }
    }

    func send(_ piece: [UInt8]) async -> Bool {
        guard case .pieces(_, _, _, let feed) = state.withLock(\.answer) else { return false }
        // What was taken back must not wait for a program that reads slowly.
        return await withTaskCancellationHandler {
            await feed.send(piece)
        } onCancel: {
            feed.abort()
        }
    }

    /// - Parameter error: why there is no answer, or not all of it.
    private func finish(with error: (any Error)?) {
        let answer = state.withLock { state in
            state.ends.handlerIsOver()
            state.stall?.cancel()
            if state.answer == nil { state.answer = .whole(.error(error ?? LocalAPIError.stopping)) }
            return state.answer
        }
        if case .pieces(_, _, _, let feed) = answer { error == nil ? feed.end() : feed.abort() }
        connection.resume()
    }

    /// Ends it: the server stops, or the program has hung up.
    func stop() {
        let (answer, task) = state.withLock { state in
            if state.answer == nil { state.answer = .whole(.error(LocalAPIError.stopping)) }
            return (state.answer, state.ends.stop())
        }
        if case .pieces(_, _, _, let feed) = answer { feed.abort() }
        task?.cancel()
        connection.resume()
    }
}
