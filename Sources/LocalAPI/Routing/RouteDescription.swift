import Groundwork

/// The description of a route, for the OpenAPI document and for checking requests.
public struct RouteDescription: Sendable {
    let summary: String
    /// The schemas of the `{names}` in the pattern; text unless described here.
    private(set) var path: [String: Schema]
    /// The parameters of the query; a request with any other is refused.
    let query: [String: Schema]
    /// The required parameters of the query.
    let requiredParameters: Set<String>
    /// Members of the JSON body; `nil` if there is none.
    let body: [String: Schema]?
    let requiredMembers: Set<String>
    /// The meaning of a plain text body; `nil` if there is none.
    let text: String?
    /// Status of a success.
    let status: Int
    /// The answer; `nil` for an event stream.
    let answer: Schema?
    /// The media types of texts in which the answer is offered beside JSON.
    let texts: [String]
    /// The data of an event by the event's name.
    let events: [String: Schema]
    /// The forms in which a stream is offered, the most usual one first.
    let forms: [StreamForm]

    /// Whether the answer is an event stream.
    var streams: Bool { answer == nil }

    /// A route that answers with JSON.
    ///
    /// - Parameters:
    ///   - path: the schemas of the `{names}` in the pattern that are more than plain text.
    ///   - query: the parameters of the query; a request with any other is refused.
    ///   - body: members of the JSON body, which may be omitted if no member is required; `nil` if there is no body.
    ///   - required: the required members of the body, or of the query if there is no JSON body.
    ///   - text: the meaning of the body, if it is plain text instead of JSON.
    ///   - status: the HTTP status of a success.
    ///   - answer: the JSON of a success.
    ///   - texts: the media types of texts in which the answer is offered too; the handler chooses.
    public init(
        _ summary: String, path: [String: Schema] = [:], query: [String: Schema] = [:], body: [String: Schema]? = nil,
        required: Set<String> = [], text: String? = nil, status: Int = 200, answer: Schema, texts: [String] = []
    ) {
        self.init(
            summary: summary, path: path, query: query, body: body, required: required, text: text, status: status,
            answer: answer, texts: texts, events: [:], forms: [])
    }

    /// A route that answers with an event stream.
    ///
    /// - Parameters:
    ///   - events: the data of the events by the event's name; `broker.*` stands for every name with that prefix.
    ///   - hasFrames: whether its messages are offered as bare bytes too.
    public init(
        _ summary: String, path: [String: Schema] = [:], query: [String: Schema] = [:], body: [String: Schema]? = nil,
        required: Set<String> = [], events: [String: Schema], hasFrames: Bool = false
    ) {
        self.init(
            summary: summary, path: path, query: query, body: body, required: required, text: nil, status: 200,
            answer: nil, texts: [], events: events, forms: hasFrames ? StreamForm.all : StreamForm.all.dropLast())
    }

    private init(
        summary: String, path: [String: Schema], query: [String: Schema], body: [String: Schema]?,
        required: Set<String>,
        text: String?, status: Int, answer: Schema?, texts: [String], events: [String: Schema], forms: [StreamForm]
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
        self.texts = texts
        self.events = events
        self.forms = forms
    }

    /// The same description, with the schemas of further `{names}` in the pattern.
    func describing(_ parameters: [String: Schema]) -> RouteDescription {
        var described = self
        described.path.merge(parameters) { _, new in new }
        return described
    }

    /// The data of an event: by its own name, or by its family's.
    func event(named name: String) -> Schema? {
        events[name] ?? events.first { key, _ in key.hasSuffix(".*") && name.hasPrefix(key.dropLast()) }?.value
    }

    /// The JSON body as a whole: a member that may be missing may be null as well.
    var bodySchema: Schema? {
        body.map { body in
            let members = body.map { ($0, requiredMembers.contains($0) ? $1 : $1.orNull) }
            return .object(Dictionary(uniqueKeysWithValues: members), required: requiredMembers)
        }
    }

    var definitions: [String: JSON] {
        let schemas: [[Schema]] = [
            Array(path.values), Array(query.values), Array((body ?? [:]).values), answer.map { [$0] } ?? [],
            Array(events.values),
        ]
        return Schema.union(schemas.joined())
    }
}
