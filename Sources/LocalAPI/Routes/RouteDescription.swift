/// What the OpenAPI document says of a route, and what its requests are held to.
public struct RouteDescription: Sendable {
    let summary: String
    /// Whether the answer is an event stream.
    let streams: Bool
    /// What stands for the `{names}` of the pattern; text unless it is described here.
    let path: [String: Schema]
    /// The parameters of the query; a request with any other is refused.
    let query: [String: Schema]
    /// Members of the JSON body; `nil`: there is no body.
    let body: [String: Schema]?
    let requiredMembers: Set<String>
    /// What a body of plain text is; `nil`: there is none.
    let text: String?
    /// Status of a success.
    let status: Int
    /// The answer, or the data of an event by the event's name.
    let answer: Schema?
    let events: [String: Schema]

    /// - Parameters:
    ///   - path: what stands for the `{names}` of the pattern, where there is more to say than that it is text.
    ///   - query: the parameters of the query; a request with any other is refused.
    ///   - body: members of the JSON body; `nil`: there is no body.
    ///   - required: the members of the body that are never missing.
    ///   - text: what the body is, where it is plain text and no JSON.
    ///   - status: the HTTP status of a success.
    ///   - answer: the JSON of a success.
    ///   - events: the data of the events of a stream, by the event's name.
    public init(
        _ summary: String, streams: Bool = false, path: [String: Schema] = [:], query: [String: Schema] = [:],
        body: [String: Schema]? = nil, required: Set<String> = [], text: String? = nil, status: Int = 200, answer: Schema? = nil,
        events: [String: Schema] = [:]
    ) {
        self.summary = summary
        self.streams = streams || !events.isEmpty
        self.path = path
        self.query = query
        self.body = body
        requiredMembers = required
        self.text = text
        self.status = status
        self.answer = answer
        self.events = events
    }
}
