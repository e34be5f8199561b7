import Groundwork
import LocalAPI
import Prompts
import Proximity

/// Reads the members of a JSON request body, which fits the route's schema, and names the one that is wrong.
package struct RequestBody {
    package let json: JSON

    package init(json: JSON) { self.json = json }

    /// The body of a request, which has only the members that the route describes.
    package init(_ request: LocalRequest) { json = request.json }

    package subscript(member: String) -> JSON? { json[member] }

    package func string(_ member: String) throws(AgentError) -> String {
        guard let text = try optionalString(member) else { throw .badRequest(member: member, fault: "is missing") }
        return text
    }

    package func optionalString(_ member: String) throws(AgentError) -> String? {
        try optional(member, "a string") { $0.string }
    }

    package func bool(_ member: String, default preset: Bool) throws(AgentError) -> Bool {
        try optionalBool(member) ?? preset
    }

    package func bool(_ member: String) throws(AgentError) -> Bool {
        guard let value = try optionalBool(member) else { throw .badRequest(member: member, fault: "is missing") }
        return value
    }

    package func optionalBool(_ member: String) throws(AgentError) -> Bool? {
        try optional(member, "true or false") { $0.bool }
    }

    package func integer(_ member: String, in range: ClosedRange<Int64>, default preset: Int64) throws(AgentError)
        -> Int64
    {
        try optionalInteger(member, in: range) ?? preset
    }

    package func optionalInteger(_ member: String, in range: ClosedRange<Int64>) throws(AgentError) -> Int64? {
        try optional(member, "a whole number from \(range.lowerBound) to \(range.upperBound)") { value in
            value.integer.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A payload: unchanged text, or base64 if the member `encoding` says so.
    package func payload(_ member: String) throws(AgentError) -> [UInt8] {
        let text = try string(member)
        switch try optionalString("encoding") ?? "text" {
        case "text": return Array(text.utf8)
        case "base64":
            guard let bytes = Base64.decode(text) else { throw .badRequest(member: member, fault: "is not base64") }
            return bytes
        default: throw .badRequest(member: "encoding", fault: "is neither text nor base64")
        }
    }

    /// Who may answer what the request has asked of people: anybody with the right to, or its own user alone.
    package func answerers(of request: LocalRequest) throws(AgentError) -> PromptQuestion.Answerers {
        switch try optionalString("answerers") ?? "operators" {
        case "operators": .operators
        case "user": .user(uid: request.peer.uid)
        default: throw .badRequest(member: "answerers", fault: "is neither operators nor user")
        }
    }

    private func optional<Value>(_ member: String, _ kind: String, _ read: (JSON) -> Value?) throws(AgentError)
        -> Value?
    {
        guard let value = json[member], value != .null else { return nil }
        guard let read = read(value) else { throw .badRequest(member: member, fault: "is not \(kind)") }
        return read
    }
}

extension LocalRequest {
    /// A query parameter with a fixed set of values.
    ///
    /// - Throws: ``AgentError/badRequest(member:fault:)``
    package func choice<Choice>(_ name: String, of choices: [String: Choice], default preset: Choice) throws(AgentError)
        -> Choice
    {
        guard let text = query[name] else { return preset }
        guard let choice = choices[text] else {
            throw .badRequest(member: name, fault: "is not one of \(choices.keys.sorted().joined(separator: ", "))")
        }
        return choice
    }
}

extension LocalRequest {
    /// A number in the query.
    ///
    /// - Throws: ``AgentError/badRequest(member:fault:)`` if it is not a whole number of the range.
    package func integer(_ parameter: String, in range: ClosedRange<Int64>, default preset: Int64) throws(AgentError)
        -> Int64
    {
        guard let text = query[parameter] else { return preset }
        guard let value = Int64(text), range.contains(value) else {
            throw .badRequest(
                member: parameter, fault: "is not a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }
}
