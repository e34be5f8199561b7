import Gateway
import Groundwork
import HTTPClient
import LocalAPI

/// A call as a request of the local API states it.
struct CallRequest {
    var call: APICall
    /// How its body is signed, as far as the request says.
    let signing: SigningRequest?
    /// Whose token is used; `nil` where the request does not say.
    let principal: Principal?
    /// Length of a body that follows in pieces, in bytes.
    let uploadLength: Int?
    /// What an answer has to be that is a success.
    let expected: Kind?
    /// Who is asked for one-time passwords that the API demands; `nil` where the request does not say.
    let prompted: Prompted?

    /// Who may answer questions about a call.
    enum Prompted: String, CaseIterable {
        case user, operators
    }

    /// The kinds of bodies that the protocol's clients know, each with its media type (MAG 0.3).
    enum Kind: String, CaseIterable {
        case json, form, text, xml, scim

        var mediaType: String {
            switch self {
            case .json: "application/json"
            case .form: FormBody.contentType
            case .text: "text/plain"
            case .xml: "application/xml"
            case .scim: "application/scim+json"
            }
        }
    }

    static var members: [String: Schema] {
        [
            "method": .string("of HTTP"),
            "path": .string(
                "below the gateway, @ and the name of an endpoint of its configuration, or a URL on a configured host"),
            "query": .pairs("is encoded and added to the path"), "headers": .pairs("fields of the head, in order"),
            "accept": .string("what the answer should be; sets Accept", choices: Kind.allCases.map(\.rawValue)),
            "expect": .string(
                "what the answer has to be: sets Accept, and refuses an answer of 2xx with a body of another type",
                choices: Kind.allCases.map(\.rawValue)),
            "as": .principal(Schema.whose), "scope": .additionalScope,
            "public": .boolean("at a gateway: whether the request says nothing of who calls"),
            "timeoutSeconds": .integer("limit of each attempt", in: 1...HostSecurity.timeoutLimit),
            "prompts": .string(
                "at a gateway: ask for one-time passwords that the API demands, and who may answer: only the user who "
                    + "calls, or all users who may operate",
                choices: Prompted.allCases.map(\.rawValue)),
            "sign": SigningRequest.member,
        ].merging(CallContent.members("sent")) { own, _ in own }
    }

    /// The most bytes of a body in pieces.
    static let uploadLimit: Int64 = 1 << 40

    static var uploadMember: [String: Schema] {
        [
            "upload": .integer("length of a body that follows, in bytes", in: 0...uploadLimit)
        ]
    }

    /// - Throws: ``AgentError/badRequest(member:fault:)``, `GatewayError.unsignable`
    init(_ body: RequestBody) throws {
        var call = APICall(try body.string("method"), try body.string("path"))
        let query = try body.pairs("query")
        if !query.isEmpty { call.path += (call.path.contains("?") ? "&" : "?") + FormBody(query).text }
        for (name, value) in try body.pairs("headers") { call.headers.add(name, value) }
        uploadLength = try body.optionalInteger("upload", in: 0...Self.uploadLimit).map { Int($0) }
        let content = try CallContent(body, orUpload: true)
        call.body = content.bytes
        if let type = content.kind, call.headers.first("Content-Type") == nil {
            call.headers.add("Content-Type", type.mediaType)
        }
        expected = try body.kind("expect")
        if let accept = try body.kind("accept") ?? expected, call.headers.first("Accept") == nil {
            call.headers.add("Accept", accept.mediaType)
        }
        call.scope = try body.optionalString("scope")
        call.timeout = try body.optionalInteger("timeoutSeconds", in: 1...HostSecurity.timeoutLimit).map {
            .seconds($0)
        }
        signing = try SigningRequest(body["sign"])
        guard signing == nil || uploadLength == nil else {
            throw AgentError.badRequest(member: "sign", fault: "needs the body whole, and upload sends it in pieces")
        }
        call.signing = signing?.signing
        self.call = call
        prompted = try body.optionalString("prompts").map { text throws(AgentError) in
            guard let prompted = Prompted(rawValue: text) else {
                throw AgentError.badRequest(member: "prompts", fault: "is neither user nor operators")
            }
            return prompted
        }
        principal = try Principal(body.optionalString("as"))
        self.call.isPublic = try body.bool("public", default: false)
        let members = [("as", principal != nil), ("scope", call.scope != nil), ("sign", signing != nil)]
        if self.call.isPublic, let (member, _) = members.first(where: \.1) {
            throw AgentError.badRequest(member: member, fault: "does not go with a public call")
        }
    }
}

extension RequestBody {
    func pairs(_ member: String) throws(AgentError) -> [(String, String)] {
        guard let list = self[member], list != .null else { return [] }
        guard let elements = list.array else { throw .badRequest(member: member, fault: "is not an array") }
        var pairs: [(String, String)] = []
        for element in elements {
            guard let name = element["name"]?.string, let value = element["value"]?.string, element.object?.count == 2
            else { throw .badRequest(member: member, fault: "holds something else than {name, value}") }
            pairs.append((name, value))
        }
        return pairs
    }

    func kind(_ member: String) throws(AgentError) -> CallRequest.Kind? {
        guard let text = try optionalString(member) else { return nil }
        guard let kind = CallRequest.Kind(rawValue: text) else {
            throw .badRequest(
                member: member,
                fault: "is none of \(CallRequest.Kind.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return kind
    }
}

extension Schema {
    /// Names and values in order; a name may repeat.
    static func pairs(_ meaning: String) -> Schema {
        .array(
            of: .object(
                ["name": .string("of the field"), "value": Schema.string("of the field").asSensitive],
                required: ["name", "value"]), meaning)
    }
}
