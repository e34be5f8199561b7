import HTTPClient

/// The head of a request, by which alone is decided whether it is admitted.
struct RequestHead {
    let method: String
    /// As it was sent.
    let target: [UInt8]
    let headers: HTTPHeaders
    /// The length of the body that the head announces; 0 if it announces none.
    let announcedBytes: Int
    /// The size of the head itself.
    let bytes: Int
    let peer: Peer
}

/// A request that is admitted, without its body yet.
struct AdmittedRequest {
    let route: Router.Route
    let request: LocalRequest
    /// In its user's quota of requests.
    let place: UserShares.Place
    /// The console's session that it belongs to.
    let session: Int?
    /// The form of a stream's events that the caller prefers; `nil` where the route offers none.
    let form: StreamForm?
}

extension ServerContext {
    /// Decides on the head of a request: its size, route, permission, query, accepted forms and announced body, and
    /// whether its user may have another request.
    func admit(_ head: RequestHead, isStopping: Bool) throws(LocalAPIError) -> AdmittedRequest {
        guard head.bytes <= limits.headBytes else { throw .headTooLarge(limit: limits.headBytes) }
        var target = try RequestTarget(head.target)
        if let console, console.isLanding(head.method, target) { target = RequestTarget.root }
        let caller = try caller(of: head, at: target.path)
        let (route, parameters) = try router.route(head.method, target)
        let peer = caller.peer
        guard caller.isAnonymous || policy.allows(peer, route.permission) else {
            throw .denied(route.permission, to: peer, head.method, target.path)
        }
        let checks = route.checks
        if let unknown = target.query.keys.sorted().first(where: { checks.query[$0] == nil }) {
            throw .unknownParameter(name: unknown, known: checks.query.keys.sorted())
        }
        let offered = checks.forms
        let form = StreamForm.preferred(of: offered, accepted: head.headers.all("Accept"))
        if form == nil, !offered.isEmpty { throw .notAcceptable(offered: offered.map(\.mediaType)) }
        guard head.announcedBytes <= limits.bodyBytes else { throw .bodyTooLarge(limit: limits.bodyBytes) }
        guard !isStopping else { throw .stopping }
        let isOwner = policy.isOwner(peer)
        let place: UserShares.Place
        do throws(Shortage) {
            place = try requests.take(peer.uid, isOwner: isOwner)
        } catch {
            throw .tooManyRequests(uid: peer.uid, error)
        }
        let request = LocalRequest(
            method: head.method, path: target.path, parameters: parameters, query: target.query,
            headers: head.headers, peer: peer, isOwner: isOwner, mayOperate: policy.allows(peer, .operate))
        if let session = caller.session { console?.begin(session) }
        return AdmittedRequest(route: route, request: request, place: place, session: caller.session, form: form)
    }

    /// Who sends a request, as this listener knows it.
    private func caller(of head: RequestHead, at path: String) throws(LocalAPIError) -> RequestCaller {
        if let console { return try console.caller(of: head, at: path) }
        if let token { return try token.caller(of: head) }
        return RequestCaller(peer: head.peer)
    }
}
