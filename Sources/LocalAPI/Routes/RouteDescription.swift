import Groundwork

/// What the OpenAPI document says of a route, and what its requests are held to.
public struct RouteDescription: Sendable {
    let summary: String
    /// What stands for the `{names}` of the pattern; text unless it is described here.
    let path: [String: Schema]
    /// The parameters of the query; a request with any other is refused.
    let query: [String: Schema]
    /// The parameters of the query that are never missing.
    let requiredParameters: Set<String>
    /// Members of the JSON body; `nil`: there is no body.
    let body: [String: Schema]?
    let requiredMembers: Set<String>
    /// What a body of plain text is; `nil`: there is none.
    let text: String?
    /// Status of a success.
    let status: Int
    /// The answer; `nil`: it is an event stream.
    let answer: Schema?
    /// The data of an event by the event's name.
    let events: [String: Schema]

    /// Whether the answer is an event stream.
    var streams: Bool { answer == nil }

    /// A route that answers with JSON.
    ///
    /// - Parameters:
    ///   - path: what stands for the `{names}` of the pattern, where there is more to say than that it is text.
    ///   - query: the parameters of the query; a request with any other is refused.
    ///   - body: members of the JSON body, which may be left out as a whole where none is required; `nil`: there is no body.
    ///   - required: the members of the body, or of the query where there is no JSON body, that are never missing.
    ///   - text: what the body is, where it is plain text and no JSON.
    ///   - status: the HTTP status of a success.
    ///   - answer: the JSON of a success.
    public init(
        _ summary: String, path: [String: Schema] = [:], query: [String: Schema] = [:], body: [String: Schema]? = nil,
        required: Set<String> = [], text: String? = nil, status: Int = 200, answer: Schema
    ) {
        self.init(
            summary: summary, path: path, query: query, body: body, required: required, text: text, status: status,
            answer: answer, events: [:])
    }

    /// A route that answers with an event stream.
    ///
    /// - Parameter events: the data of the events by the event's name; `broker.*` stands for every name that begins so.
    public init(
        _ summary: String, query: [String: Schema] = [:], body: [String: Schema]? = nil, required: Set<String> = [],
        events: [String: Schema]
    ) {
        self.init(
            summary: summary, path: [:], query: query, body: body, required: required, text: nil, status: 200,
            answer: nil,
            events: events)
    }

    private init(
        summary: String, path: [String: Schema], query: [String: Schema], body: [String: Schema]?,
        required: Set<String>,
        text: String?, status: Int, answer: Schema?, events: [String: Schema]
    ) {
        self.summary = summary
        self.path = path
        self.query = query
        self.body = body
        requiredMembers = body == nil ? [] : required
        requiredParameters = body == nil ? required : []
        self.text = text
        self.status = status
        self.answer = answer
        self.events = events
    }

    /// The data of an event: by its own name, or by that of its family.
    func event(named name: String) -> Schema? {
        events[name] ?? events.first { key, _ in key.hasSuffix(".*") && name.hasPrefix(key.dropLast()) }?.value
    }

    var definitions: [String: JSON] {
        let schemas: [[Schema]] = [
            Array(path.values), Array(query.values), Array((body ?? [:]).values), answer.map { [$0] } ?? [],
            Array(events.values),
        ]
        return Schema.union(schemas.joined())
    }
}
