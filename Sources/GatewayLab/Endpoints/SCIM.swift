import Cryptography
import Foundation
import Groundwork

/// E21: users, groups and schemas (SCIM 2.0, RFC 7643 and 7644; MAG 10).
extension GatewayCore {
    private static let scope = "mas_identity"
    static let userSchema = "urn:ietf:params:scim:schemas:core:2.0:User"
    static let groupSchema = "urn:ietf:params:scim:schemas:core:2.0:Group"

    mutating func scim(_ request: WireRequest, now: Date) throws -> WireResponse {
        let token = try bearer(of: request, at: .scim, scope: Self.scope, now: now)
        do {
            return try scimAnswer(request, token)
        } catch let fault as SCIMFault {
            return fault.response
        }
    }

    private mutating func scimAnswer(_ request: WireRequest, _ token: LabAccessToken) throws -> WireResponse {
        let path = request.path.dropFirst(Endpoint.scim.path.count).split(separator: "/").map(Self.decoded)
        guard let query = Parameters(query: request.query) else { throw SCIMFault(400, "invalidValue", "A bad query") }
        switch (request.method, path.first, path.count) {
        case ("GET", "Users", 1): return try list(configuration.users.map(userResource), query)
        case ("GET", "Users", 2):
            guard let user = configuration.users.first(where: { $0.name == path[1] }) else { throw Self.absent }
            return .scim(Self.selected(userResource(user), query))
        case ("GET", "Groups", 1):
            let groups = state.kept.groups.sorted { $0.key < $1.key }
            return try list(groups.map { groupResource($0.key, $0.value) }, query)
        case ("POST", "Groups", 1):
            guard state.kept.groups.count < LabServices.limit else { throw SCIMFault(507, nil, "Too many groups") }
            let id = try Random.uuid()
            state.kept.groups[id] = try group(in: request, owner: token.user, id: id)
            return .scim(try self.group(id), status: 201)
        case ("GET", "Groups", 2): return .scim(Self.selected(try group(path[1]), query))
        case ("PUT", "Groups", 2):
            let former = try ownGroup(path[1], token)
            state.kept.groups[path[1]] = try group(in: request, owner: former.owner, id: path[1])
            return .scim(try group(path[1]))
        case ("DELETE", "Groups", 2):
            _ = try ownGroup(path[1], token)
            state.kept.groups[path[1]] = nil
            return WireResponse(status: 204)
        case ("GET", "Schemas", 2): return try schema(path[1])
        case (_, "Users", _), (_, "Groups", _), (_, "Schemas", _), (_, nil, _):
            throw SCIMFault(path.isEmpty ? 404 : 405, nil, "This cannot be done here")
        default: throw Self.absent
        }
    }

    private static let absent = SCIMFault(404, nil, "There is no such resource")

    private static func decoded(_ segment: Substring) -> String {
        PercentEncoding.decode(segment.utf8).flatMap { String(validating: $0, as: UTF8.self) } ?? ""
    }

    // MARK: Lists

    /// Filter, order and page of a list; a client that sends no count gets 12.
    private func list(_ resources: [JSON], _ query: Parameters) throws -> WireResponse {
        var found = resources
        if let text = query["filter"] { found = found.filter(try SCIMFilterText.matcher(text)) }
        if let sortBy = query["sortBy"] {
            let path = sortBy.split(separator: ".").map(String.init)
            found.sort { left, right in
                guard let first = SCIMValues.at(path, of: left).first else { return false }
                guard let second = SCIMValues.at(path, of: right).first else { return true }
                return (SCIMValues.order(first, second) ?? 0) < 0
            }
            if query["sortOrder"] == "descending" { found.reverse() }
        }
        let start = max(1, query["startIndex"].flatMap { Int($0) } ?? 1)
        let count = min(max(0, query["count"].flatMap { Int($0) } ?? 12), LabServices.limit)
        let page = found.dropFirst(start - 1).prefix(count).map { Self.selected($0, query) }
        return .scim([
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
            "totalResults": .integer(Int64(found.count)), "startIndex": .integer(Int64(start)),
            "itemsPerPage": .integer(Int64(page.count)), "Resources": .array(page),
        ])
    }

    /// The attributes that were asked for; `id` and `schemas` are always there.
    private static func selected(_ resource: JSON, _ query: Parameters) -> JSON {
        guard var members = resource.object else { return resource }
        func names(_ text: String) -> [[String]] {
            text.lowercased().split(separator: ",").map { $0.split(separator: ".").map(String.init) }
        }
        if let wanted = query["attributes"].map(names) {
            for (name, value) in members where !["id", "schemas"].contains(name) {
                let paths = wanted.filter { $0.first == name.lowercased() }
                if paths.isEmpty {
                    members[name] = nil
                } else if !paths.contains(where: { $0.count == 1 }), let parts = value.object {
                    members[name] = .object(parts.filter { part in paths.contains { $0[1] == part.key.lowercased() } })
                }
            }
        } else if let unwanted = query["excludedAttributes"].map(names) {
            for name in members.keys where !["id", "schemas"].contains(name) {
                if unwanted.contains([name.lowercased()]) { members[name] = nil }
            }
        }
        return .object(members)
    }

    // MARK: Resources

    private func userResource(_ user: LabUser) -> JSON {
        let names = state.kept.groups.filter { $0.value.members.contains(user.name) }
        var members: [String: JSON] = [
            "schemas": [.string(Self.userSchema)], "id": .string(user.name), "userName": .string(user.name),
            "displayName": .string(user.fullName), "active": true,
            "name": [
                "formatted": .string(user.fullName), "givenName": .string(user.givenName),
                "familyName": .string(user.familyName),
            ],
            "emails": [["value": .string("\(user.name)@lab.test"), "type": "work", "primary": true]],
            "photos": [["value": .string("data:image/png;base64," + LabPicture.base64), "type": "thumbnail"]],
            "groups": .array(
                names.sorted { $0.key < $1.key }.map {
                    ["value": .string($0.key), "display": .string($0.value.name), "$ref": url("/Groups/" + $0.key)]
                }), "meta": meta("User", "/Users/" + user.name),
        ]
        if let number = user.phoneNumber { members["phoneNumbers"] = [["value": .string(number), "type": "work"]] }
        return .object(members)
    }

    private func group(_ id: String) throws -> JSON {
        guard let group = state.kept.groups[id] else { throw Self.absent }
        return groupResource(id, group)
    }

    /// A group that the caller may change: its owner, or the board that no user owns it for.
    private func ownGroup(_ id: String, _ token: LabAccessToken) throws -> LabServices.Group {
        guard let group = state.kept.groups[id] else { throw Self.absent }
        guard group.owner == token.user ?? "" else { throw SCIMFault(403, nil, "Only the owner may change the group") }
        return group
    }

    private func groupResource(_ id: String, _ group: LabServices.Group) -> JSON {
        func person(_ name: String) -> [String: JSON] {
            let display = configuration.users.first { $0.name == name }?.fullName ?? name
            return ["value": .string(name), "$ref": url("/Users/" + name), "display": .string(display)]
        }
        return [
            "schemas": [.string(Self.groupSchema)], "id": .string(id), "displayName": .string(group.name),
            "owner": .object(person(group.owner)),
            "members": .array(group.members.map { .object(person($0).merging(["type": "User"]) { $1 }) }),
            "meta": meta("Group", "/Groups/" + id),
        ]
    }

    /// A whole group as a client posts it.
    private func group(in request: WireRequest, owner: String?, id: String) throws -> LabServices.Group {
        guard let body = try? JSON(parsing: request.body), let name = body["displayName"]?.string, !name.isEmpty,
            body["schemas"]?.array?.contains(.string(Self.groupSchema)) == true
        else { throw SCIMFault(400, "invalidSyntax", "It is not a group with a displayName") }
        guard !state.kept.groups.contains(where: { $0.key != id && $0.value.name == name }) else {
            throw SCIMFault(409, "uniqueness", "There is a group of that name")
        }
        let members = (body["members"]?.array ?? []).map { $0["value"]?.string ?? "" }
        guard members.allSatisfy({ member in configuration.users.contains { $0.name == member } }) else {
            throw SCIMFault(400, "invalidValue", "A member is not a user")
        }
        return LabServices.Group(name: name, owner: owner ?? "", members: members)
    }

    private func url(_ path: String) -> JSON { .string(baseURL + Endpoint.scim.path + path) }

    private func meta(_ type: String, _ path: String) -> JSON {
        ["resourceType": .string(type), "location": url(path)]
    }

    // MARK: Schemas

    private func schema(_ id: String) throws -> WireResponse {
        let attributes: [JSON]
        switch id {
        case Self.userSchema:
            attributes = [
                Self.attribute("userName", unique: "server"),
                Self.attribute("displayName"), Self.attribute("active", type: "boolean"),
                Self.attribute("name", type: "complex", parts: ["formatted", "familyName", "givenName"]),
                Self.attribute("emails", type: "complex", many: true, parts: ["value", "type"]),
                Self.attribute("phoneNumbers", type: "complex", many: true, parts: ["value", "type"]),
                Self.attribute("photos", type: "complex", many: true, parts: ["value", "type"]),
                Self.attribute("groups", type: "complex", many: true, parts: ["value", "display"]),
            ]
        case Self.groupSchema:
            attributes = [
                Self.attribute("displayName", unique: "server"),
                Self.attribute("owner", type: "complex", parts: ["value", "display"]),
                Self.attribute("members", type: "complex", many: true, parts: ["value", "display", "type"]),
            ]
        default: throw Self.absent
        }
        return .json([
            "schemas": ["urn:ietf:params:scim:schemas:core:2.0:Schema"], "id": .string(id),
            "name": id == Self.userSchema ? "User" : "Group", "attributes": .array(attributes),
        ])
    }

    private static func attribute(
        _ name: String, type: String = "string", many: Bool = false, unique: String = "none", parts: [String] = []
    ) -> JSON {
        var members: [String: JSON] = [
            "name": .string(name), "type": .string(type), "multiValued": .bool(many), "description": .string(name),
            "required": .bool(unique != "none"), "caseExact": false, "mutability": "readWrite", "returned": "default",
            "uniqueness": .string(unique),
        ]
        if !parts.isEmpty { members["subAttributes"] = .array(parts.map { attribute($0) }) }
        return .object(members)
    }
}

/// A picture of one pixel, for users and applications.
enum LabPicture {
    static let base64 =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
}
