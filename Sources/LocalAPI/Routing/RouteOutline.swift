import Groundwork
import Synchronization

/// What of a route's description each request is checked by, kept from the first request on.
struct RouteOutline: ~Copyable, Sendable {
    struct Checks: Sendable {
        /// The schemas of the `{names}` in the pattern.
        let path: [String: Schema]
        /// The parameters of the query.
        let query: [String: Schema]
        let requiredParameters: Set<String>
        /// The JSON body; of a route without one, it has no members.
        let body: Schema
        /// Whether the body is text, and not JSON.
        let takesText: Bool
        /// The forms in which a stream is offered.
        let forms: [StreamForm]
    }
    private let kept = Mutex<Checks?>(nil)

    func checks(by describe: () -> RouteDescription) -> Checks {
        kept.withLock { kept in
            if let kept { return kept }
            let description = describe()
            let checks = Checks(
                path: description.path, query: description.query,
                requiredParameters: description.requiredParameters, body: description.bodySchema ?? .object([:]),
                takesText: description.text != nil, forms: description.forms)
            kept = checks
            return checks
        }
    }
}

extension RouteOutline.Checks {
    /// The request with its body as JSON, if it is as the document describes it.
    ///
    /// - Throws: ``LocalAPIError/badBody(reason:)``, ``LocalAPIError/badRequest(member:fault:)``
    func checked(_ request: LocalRequest) throws(LocalAPIError) -> LocalRequest {
        do throws(Schema.Misfit) {
            for (given, known) in [(request.parameters, path), (request.query, query)] {
                for (name, text) in given.sorted(by: { $0.key < $1.key }) {
                    guard let schema = known[name] else { continue }
                    try schema.check(schema.value(ofParameter: text), at: name)
                }
            }
            if let name = requiredParameters.sorted().first(where: { request.query[$0] == nil }) {
                throw Schema.Misfit(place: name, fault: "is missing")
            }
        } catch {
            throw .badRequest(member: error.place, fault: error.fault)
        }
        guard !takesText else {
            guard !request.body.isEmpty else { throw .badBody(reason: "is missing") }
            return request
        }
        var request = request
        try request.readJSON()
        do throws(Schema.Misfit) {
            try body.check(request.json)
        } catch {
            throw .badRequest(member: error.place, fault: error.fault)
        }
        return request
    }
}
