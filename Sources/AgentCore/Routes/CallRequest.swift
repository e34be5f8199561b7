import Groundwork
import HTTPClient
import LocalAPI

/// A call as a request of the local API states it.
package struct CallRequest {
    package let method: String
    /// With the query.
    package let path: String
    package let headers: HTTPHeaders
    package let body: [UInt8]?
    /// Scopes needed beyond the configured ones, with blanks between.
    package let scope: String?
    /// Limit of each attempt; `nil` where the request does not say.
    package let timeout: Duration?
    /// Whether the request says nothing of who calls.
    package let isPublic: Bool
    /// How its body is signed, as the request has it; `nil` if it is not.
    package let signing: JSON?
    /// Whose token is used, as the request has it; `nil` where it does not say.
    package let principal: String?
    /// Length of a body that follows in pieces, in bytes.
    package let uploadLength: Int?
    /// What an answer has to be that is a success.
    package let expected: Kind?
    /// Who is asked for one-time passwords that the API demands; `nil` where the request does not say.
    package let prompted: Prompted?

    /// Who may answer questions about a call.
    package enum Prompted: String, CaseIterable {
        case user, operators
    }

    /// The kinds of bodies that the protocol's clients know, each with its media type (MAG 0.3).
    package enum Kind: String, CaseIterable {
        case json, form, text, xml, scim

        package var mediaType: String {
            switch self {
            case .json: "application/json"
            case .form: FormBody.contentType
            case .text: "text/plain"
            case .xml: "application/xml"
            case .scim: "application/scim+json"
            }
        }
    }

    package static var members: [String: Schema] {
        [
            "method": .string("HTTP method"),
            "path": .string(
                "path below the gateway, @ and the name of a configured endpoint, or a URL on a configured host"),
            "query": .pairs("fields to encode and add to the path"), "headers": .pairs("header fields, in order"),
            "accept": .string("preferred type of the answer; sets Accept", choices: Kind.allCases.map(\.rawValue)),
            "expect": .string(
                "required type of the answer: sets Accept, and rejects a 2xx answer with a body of another type",
                choices: Kind.allCases.map(\.rawValue)),
            "as": .string(Schema.whose, choices: ["board", "user"]), "scope": .additionalScope,
            "public": .boolean("at a gateway: whether the request does not identify the caller"),
            "timeoutSeconds": .integer("time limit of each attempt", in: 1...timeoutLimit),
            "prompts": .string(
                "at a gateway: who is asked for one-time passwords that the API demands: only the user who "
                    + "calls, or all users who may operate",
                choices: Prompted.allCases.map(\.rawValue)),
        ].merging(CallContent.members("sent")) { own, _ in own }
    }

    /// The greatest limit of an attempt, in seconds.
    package static let timeoutLimit: Int64 = 3600

    /// The most bytes of a body in pieces.
    package static let uploadLimit: Int64 = 1 << 40

    package static var uploadMember: [String: Schema] {
        [
            "upload": .integer("length of a body that follows, in bytes", in: 0...uploadLimit)
        ]
    }

    /// - Throws: ``AgentError/badRequest(member:fault:)``
    package init(_ request: RequestBody) throws(AgentError) {
        method = try request.string("method")
        let query = try request.pairs("query")
        var (path, headers) = (try request.string("path"), HTTPHeaders())
        if !query.isEmpty { path += (path.contains("?") ? "&" : "?") + FormBody(query).text }
        for (name, value) in try request.pairs("headers") { headers.add(name, value) }
        uploadLength = try request.optionalInteger("upload", in: 0...Self.uploadLimit).map { Int($0) }
        let content = try CallContent(request, orUpload: true)
        body = content.bytes
        if let type = content.kind, headers.first("Content-Type") == nil { headers.add("Content-Type", type.mediaType) }
        expected = try request.kind("expect")
        if let accept = try request.kind("accept") ?? expected, headers.first("Accept") == nil {
            headers.add("Accept", accept.mediaType)
        }
        (self.path, self.headers) = (path, headers)
        scope = try request.optionalString("scope")
        timeout = try request.optionalInteger("timeoutSeconds", in: 1...Self.timeoutLimit).map { .seconds($0) }
        signing = request["sign"].flatMap { [.null, .bool(false)].contains($0) ? nil : $0 }
        guard signing == nil || uploadLength == nil else {
            throw .badRequest(member: "sign", fault: "needs the whole body, but upload sends it in pieces")
        }
        prompted = try request.optionalString("prompts").map { text throws(AgentError) in
            guard let prompted = Prompted(rawValue: text) else {
                throw .badRequest(member: "prompts", fault: "is neither user nor operators")
            }
            return prompted
        }
        principal = try request.optionalString("as")
        isPublic = try request.bool("public", default: false)
        let members = [("as", principal != nil), ("scope", scope != nil), ("sign", signing != nil)]
        if isPublic, let (member, _) = members.first(where: \.1) {
            throw .badRequest(member: member, fault: "cannot be given for a package call")
        }
    }
}

extension RequestBody {
    package func pairs(_ member: String) throws(AgentError) -> [(String, String)] {
        guard let list = self[member], list != .null else { return [] }
        guard let elements = list.array else { throw .badRequest(member: member, fault: "is not an array") }
        var pairs: [(String, String)] = []
        for element in elements {
            guard let name = element["name"]?.string, let value = element["value"]?.string, element.object?.count == 2
            else { throw .badRequest(member: member, fault: "contains something other than {name, value}") }
            pairs.append((name, value))
        }
        return pairs
    }

    package func kind(_ member: String) throws(AgentError) -> CallRequest.Kind? {
        guard let text = try optionalString(member) else { return nil }
        guard let kind = CallRequest.Kind(rawValue: text) else {
            throw .badRequest(
                member: member,
                fault: "is not one of \(CallRequest.Kind.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return kind
    }
}

extension Schema {
    /// Names and values in order; a name may repeat.
    package static func pairs(_ meaning: String) -> Schema {
        .array(
            of: .object(all: [
                "name": .string("name of the field"), "value": Schema.string("value of the field").asSensitive,
            ]),
            meaning)
    }
}
