import AgentCore
import AgentGateway
import Directories
import Gateway
import GatewayServices
import Groundwork
import LocalAPI

/// The users and groups of the gateway.
extension ServicesFeature {
    func addUserListRoutes(to router: inout Router) {
        addListRoutes(of: .user, to: &router)
        router.on(
            "GET", "/v1/users/{user}/photo", needs: .operate,
            .init(
                "The picture of a user: its bytes, or its address", query: Self.namingQuery,
                answer: .object([
                    "mediaType": .string("media type of the bytes"), "bytes": Schema.base64("the picture").asSensitive,
                    "url": Schema.string("address of the picture").asSensitive,
                ]))
        ) { request in
            switch try await self.services(of: request).directory.photo(of: try request.directoryKey("user")) {
            case .bytes(let bytes, let type):
                return .json(["mediaType": .string(type), "bytes": .string(Base64.encode(bytes))])
            case .address(let url): return .json(["url": .string(url)])
            }
        }
        router.on(
            "GET", "/v1/schemas/{kind}", needs: .operate,
            .init(
                "The attributes of users or groups",
                path: ["kind": .choice("what to describe", of: Directory.Kind.self)],
                answer: .openObject("a schema of SCIM, RFC 7643 section 7"))
        ) { request in
            guard let kind = request.parameters["kind"].flatMap(Directory.Kind.init) else {
                throw AgentError.badRequest(member: "kind", fault: "is neither user nor group")
            }
            return .json(try await self.services(of: request).directory.schema(of: kind))
        }
    }

    func addGroupRoutes(to router: inout Router) {
        addListRoutes(of: .group, to: &router)
        router.on(
            "POST", "/v1/groups", needs: .operate,
            .init(
                "Create a group, owned by the user who is logged in",
                body: [
                    "displayName": .string("its name").notEmpty(),
                    "members": .array(of: .string("a user").notEmpty(), "the first members"),
                    "by": Self.namingQuery["by"] ?? .string(""),
                ], required: ["displayName"], status: 201, answer: Self.resourceSchema)
        ) { request in
            let body = RequestBody(request)
            let members = try (body["members"]?.array ?? []).compactMap(\.string).map { member throws(AgentError) in
                try Directory.Key(member, by: try body.optionalString("by"))
            }
            let owner = try await self.gateways.account(of: request).session.user()?.userName
            let name = try body.string("displayName")
            return .json(
                try await self.services(of: request).directory.createGroup(name, members: members, owner: owner),
                status: 201)
        }
        router.on(
            "DELETE", "/v1/groups/{group}", needs: .operate,
            .init("Delete a group", query: Self.namingQuery, answer: Self.deletedSchema)
        ) { request in
            let key = try request.directoryKey("group")
            try await self.services(of: request).directory.deleteGroup(key)
            return .json(["deleted": .string(request.parameters["group"] ?? "")])
        }
        for (method, path, summary) in [
            ("POST", "/v1/groups/{group}/members", "Add a user to a group"),
            ("DELETE", "/v1/groups/{group}/members/{user}", "Remove a user from a group"),
        ] {
            let adds = method == "POST"
            router.on(
                method, path, needs: .operate,
                .init(
                    summary, query: Self.namingQuery, body: adds ? ["user": .string("who").notEmpty()] : nil,
                    required: adds ? ["user"] : [], answer: Self.resourceSchema)
            ) { request in
                let directory = try await self.services(of: request).directory
                let group = try request.directoryKey("group")
                let name = adds ? try RequestBody(request).string("user") : request.parameters["user"] ?? ""
                let user = try Directory.Key(name, by: request.query["by"])
                await self.groupChange.lock()
                defer { self.groupChange.unlock() }
                return .json(
                    try await adds
                        ? directory.add(user, toGroup: group) : directory.remove(user, fromGroup: group))
            }
        }
    }

    /// The list, and one of it.
    private func addListRoutes(of kind: Directory.Kind, to router: inout Router) {
        let plural = "\(kind.rawValue)s"
        let list = Schema.object(all: [
            "total": .integer("number of matches"),
            "startIndex": .integer("number of the first entry of the page, from 1"),
            "resources": Schema.array(of: Self.resourceSchema, "the page"),
        ])
        router.on(
            "GET", "/v1/\(plural)", needs: .operate,
            .init(
                "The \(plural) of the gateway's directory, in pages",
                query: Self.attributesQuery.merging([
                    "filter": .string(#"such as: userName sw "a" and active eq true"#),
                    "spelling": .choice("how combined filters are sent", of: SCIMFilter.Spelling.self),
                    "sortBy": .string("an attribute"), "sortOrder": .choice("", of: SCIMQuery.Order.self),
                    "startIndex": .integer("number of the first entry of the page, from 1", in: 1...Int64(Int32.max)),
                    "count": .integer(
                        "size of the page; \(SCIMQuery.usualCount) by default",
                        in: 1...Int64(SCIMQuery.countLimit)),
                ]) { own, _ in own }, answer: list)
        ) { request in
            let page = try await self.services(of: request).directory.list(kind, try request.directoryQuery())
            return .json([
                "total": .integer(Int64(page.total)), "startIndex": .integer(Int64(page.startIndex)),
                "resources": .array(page.resources),
            ])
        }
        router.on(
            "GET", "/v1/\(plural)/{\(kind.rawValue)}", needs: .operate,
            .init(
                "One \(kind.rawValue)", query: Self.attributesQuery.merging(Self.namingQuery) { own, _ in own },
                answer: Self.resourceSchema)
        ) { request in
            .json(
                try await self.services(of: request).directory.find(
                    kind, try request.directoryKey(kind.rawValue), try request.directoryAttributes()))
        }
    }

    private static var resourceSchema: Schema {
        Schema.openObject("resource of the gateway's directory, RFC 7643 section 4").asSensitive
    }

    static var deletedSchema: Schema {
        .object(all: ["deleted": .string("what was deleted")])
    }

    private static var namingQuery: [String: Schema] {
        ["by": .string("how users and groups are given; name by default", choices: ["name", "id"])]
    }

    private static var attributesQuery: [String: Schema] {
        [
            "attributes": .string("attributes to return, separated by commas"),
            "excludedAttributes": .string("attributes to leave out, separated by commas"),
        ]
    }
}

extension Directory.Key {
    /// - Parameter way: `name`, `id` or nothing, which means the name.
    init(_ text: String, by way: String?) throws(AgentError) {
        switch way ?? "name" {
        case "name": self = .name(text)
        case "id": self = .id(text)
        default: throw .badRequest(member: "by", fault: "is neither name nor id")
        }
    }
}

extension LocalRequest {
    fileprivate func directoryKey(_ parameter: String) throws(AgentError) -> Directory.Key {
        try Directory.Key(parameters[parameter] ?? "", by: query["by"])
    }

    fileprivate func directoryAttributes() throws(AgentError) -> SCIMQuery.Attributes? {
        func list(_ name: String) -> [String]? { query[name].map { $0.split(separator: ",").map(String.init) } }
        switch (list("attributes"), list("excludedAttributes")) {
        case (nil, nil): return nil
        case (let names?, nil): return .only(names)
        case (nil, let names?): return .without(names)
        default:
            throw .badRequest(member: "attributes", fault: "cannot be given together with excludedAttributes")
        }
    }

    fileprivate func directoryQuery() throws -> SCIMQuery {
        var asked = SCIMQuery()
        asked.filter = try query["filter"].map { text throws(DirectoryError) in try SCIMFilter(text) }
        asked.spelling = try choice("spelling", default: .standard)
        asked.sortBy = query["sortBy"]
        asked.order = try choice("sortOrder", default: .ascending)
        asked.attributes = try directoryAttributes()
        asked.startIndex = Int(try integer("startIndex", in: 1...Int64(Int32.max), default: 1))
        asked.count = Int(
            try integer("count", in: 1...Int64(SCIMQuery.countLimit), default: Int64(SCIMQuery.usualCount)))
        return asked
    }
}
