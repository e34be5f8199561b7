import Cryptography
import Groundwork

/// Users and groups as resources of SCIM, and what clients change of them.
extension GatewayCore {
    var scimBase: String { baseURL + Endpoint.scim.path }

    // MARK: Users

    /// The lab's own people, and those that clients have made.
    var scimUsers: [JSON] {
        configuration.users.map { user($0.name, Self.members(of: $0)) }
            + (state.kept.people ?? [:]).sorted { $0.key < $1.key }.map { id, document in
                user(id, (try? JSON(parsing: document))?.object ?? [:])
            }
    }

    private static func members(of user: LabUser) -> [String: JSON] {
        var members: [String: JSON] = [
            "userName": .string(user.name), "displayName": .string(user.fullName), "active": true,
            "name": [
                "formatted": .string(user.fullName), "givenName": .string(user.givenName),
                "familyName": .string(user.familyName),
            ],
            "emails": [["value": .string("\(user.name)@lab.test"), "type": "work", "primary": true]],
            "photos": [["value": .string("data:image/png;base64," + LabPicture.base64), "type": "thumbnail"]],
        ]
        if let number = user.phoneNumber { members["phoneNumbers"] = [["value": .string(number), "type": "work"]] }
        return members
    }

    private func user(_ id: String, _ members: [String: JSON]) -> JSON {
        let groups = state.kept.groups.filter { $0.value.members.contains(id) }.sorted { $0.key < $1.key }
        let own = groups.map { id, group -> JSON in
            ["value": .string(id), "display": .string(group.name), "$ref": url(.group, id)]
        }
        return resource(.user, id, members.merging(["groups": .array(own)]) { $1 })
    }

    /// - Parameter id: `nil` makes one.
    mutating func setUser(_ id: String?, to body: [UInt8]) throws -> JSON {
        if let id { try requireChangeable(id) }
        let members = try Self.taken(body, of: .user)
        let name = members["userName"]?.string?.lowercased()
        guard !scimUsers.contains(where: { $0["id"]?.string != id && $0["userName"]?.string?.lowercased() == name })
        else { throw SCIMFault(409, "uniqueness", "There is a user of that name") }
        let key = try id ?? Random.uuid()
        var people = state.kept.people ?? [:]
        guard id != nil || people.count < LabServices.limit else { throw SCIMFault(507, nil, "Too many users") }
        people[key] = JSON.object(members).bytes
        state.kept.people = people
        return try Self.one(key, of: scimUsers)
    }

    mutating func removeUser(_ id: String) throws {
        try requireChangeable(id)
        state.kept.people?[id] = nil
        for group in state.kept.groups.keys { state.kept.groups[group]?.members.removeAll { $0 == id } }
    }

    private func requireChangeable(_ id: String) throws(SCIMFault) {
        guard !configuration.users.contains(where: { $0.name == id }) else {
            throw SCIMFault(403, nil, "The lab's own people cannot be changed")
        }
        guard state.kept.people?[id] != nil else { throw .absent }
    }

    // MARK: Groups

    var scimGroups: [JSON] {
        let names = Dictionary(
            scimUsers.map { ($0["id"]?.string ?? "", $0["displayName"] ?? $0["userName"] ?? .null) },
            uniquingKeysWith: { first, _ in first })
        func person(_ id: String) -> [String: JSON] {
            ["value": .string(id), "$ref": url(.user, id), "display": names[id] ?? .string(id)]
        }
        return state.kept.groups.sorted { $0.key < $1.key }.map { id, group in
            let members = group.members.map { JSON.object(person($0).merging(["type": "User"]) { $1 }) }
            var all: [String: JSON] = [
                "displayName": .string(group.name), "owner": .object(person(group.owner)), "members": .array(members),
            ]
            all["externalId"] = group.externalID.map(JSON.string)
            return resource(.group, id, all)
        }
    }

    /// - Parameter id: `nil` makes one, which is the caller's.
    mutating func setGroup(_ id: String?, to body: [UInt8], by token: LabAccessToken) throws -> JSON {
        let owner = try id.map { try ownGroup($0, token).owner } ?? token.user ?? ""
        let taken = try Self.taken(body, of: .group)
        let name = taken["displayName"]?.string ?? ""
        guard !state.kept.groups.contains(where: { $0.key != id && $0.value.name == name }) else {
            throw SCIMFault(409, "uniqueness", "There is a group of that name")
        }
        let members = (taken["members"]?.array ?? []).map { $0["value"]?.string ?? "" }
        let known = Set(scimUsers.compactMap { $0["id"]?.string })
        guard members.allSatisfy(known.contains) else { throw SCIMFault(400, "invalidValue", "A member is not a user") }
        guard id != nil || state.kept.groups.count < LabServices.limit else {
            throw SCIMFault(507, nil, "Too many groups")
        }
        let key = try id ?? Random.uuid()
        state.kept.groups[key] = LabServices.Group(
            name: name, owner: owner, members: members, externalID: taken["externalId"]?.string)
        return try Self.one(key, of: scimGroups)
    }

    mutating func removeGroup(_ id: String, by token: LabAccessToken) throws {
        _ = try ownGroup(id, token)
        state.kept.groups[id] = nil
    }

    /// A group that the caller may change: its owner, or the board that no user owns it for.
    private func ownGroup(_ id: String, _ token: LabAccessToken) throws(SCIMFault) -> LabServices.Group {
        guard let group = state.kept.groups[id] else { throw .absent }
        guard group.owner == token.user ?? "" else { throw SCIMFault(403, nil, "Only the owner may change the group") }
        return group
    }

    // MARK: Both

    /// What a client may set of a whole resource that it posts.
    private static func taken(_ body: [UInt8], of schema: SCIMSchema) throws(SCIMFault) -> [String: JSON] {
        guard let posted = try? JSON(parsing: body), let members = posted.object,
            posted["schemas"]?.array?.contains(where: { $0.string?.lowercased() == schema.id.lowercased() }) == true
        else { throw SCIMFault(400, "invalidSyntax", "It is not a \(schema.name) with its schemas") }
        return try SCIMAttribute.taken(members, by: [.externalID] + schema.attributes)
    }

    private func resource(_ schema: SCIMSchema, _ id: String, _ members: [String: JSON]) -> JSON {
        var members = members
        members["schemas"] = [.string(schema.id)]
        members["id"] = .string(id)
        members["meta"] = ["resourceType": .string(schema.name), "location": url(schema, id)]
        return .object(members)
    }

    private func url(_ schema: SCIMSchema, _ id: String) -> JSON {
        .string("\(scimBase)\(schema.endpoint ?? "")/\(percentEncoded(id))")
    }
}

/// A picture of one pixel, for users and applications.
enum LabPicture {
    static let base64 =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
}
