import Synchronization

/// What of a route's description each request is checked by, kept from the first request on.
struct RouteOutline: ~Copyable, Sendable {
    struct Checks: Sendable {
        /// The parameters of the query.
        let query: Set<String>
        /// The members of the JSON body.
        let members: Set<String>
        /// The forms in which a stream is offered.
        let forms: [StreamForm]
    }
    private let kept = Mutex<Checks?>(nil)

    func checks(by describe: () -> RouteDescription) -> Checks {
        kept.withLock { kept in
            if let kept { return kept }
            let description = describe()
            let checks = Checks(
                query: Set(description.query.keys), members: Set((description.body ?? [:]).keys),
                forms: description.forms)
            kept = checks
            return checks
        }
    }
}
