public import Groundwork
import HTTPClient

/// The users and groups of a server (SCIM 2.0, RFC 7643 and 7644; MAG 10).
///
/// Users and groups are the JSON objects of the server, whose attributes each server chooses; what this type itself
/// needs of them is checked.
public struct Directory: Sendable {
    /// How a user or a group is named.
    public enum Key: Sendable, Equatable {
        case id(String)
        /// `userName` of a user, `displayName` of a group.
        case name(String)

        var text: String {
            switch self {
            case .id(let text), .name(let text): text
            }
        }
    }

    public enum Kind: String, Sendable, CaseIterable {
        case user, group

        var path: String { self == .user ? "/Users" : "/Groups" }
        var nameAttribute: String { self == .user ? "userName" : "displayName" }
        var reading: DirectoryOperation { self == .user ? .readUsers : .readGroups }
        public var schema: String { "urn:ietf:params:scim:schemas:core:2.0:" + (self == .user ? "User" : "Group") }
    }

    private let server: any DirectoryServer
    private let base: String
    static let mediaType = "application/scim+json"
    /// The largest answer that is read, in bytes: 4 MiB, for lists of users with pictures.
    static let answerLimit = 4 << 20

    /// - Parameter base: the path of the directory (at a gateway, `mas.scim-path`), or its absolute URL.
    public init(server: any DirectoryServer, base: String) {
        self.server = server
        self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
    }

    // MARK: Reading

    public func list(_ kind: Kind, _ query: SCIMQuery = SCIMQuery()) async throws -> SCIMPage {
        let answer = try await json("GET", kind.path + (try query.text()), kind.reading)
        return try SCIMPage(answer, asked: query, kind.reading)
    }

    /// - Parameter attributes: what the answer has of it.
    /// - Throws: ``DirectoryError/userUnknown(name:)``, ``DirectoryError/groupUnknown(name:)``
    public func find(_ kind: Kind, _ key: Key, _ attributes: SCIMQuery.Attributes? = nil) async throws -> JSON {
        var query = SCIMQuery()
        query.attributes = attributes
        switch key {
        case .name(let name):
            query.filter = .equals(kind.nameAttribute, name)
            let page = try await list(kind, query)
            guard page.total <= 1 else {
                throw DirectoryError.answerInvalid(kind.reading, reason: "several have this name")
            }
            guard let found = page.resources.first else { throw Self.unknown(kind, name) }
            return found
        case .id(let id):
            let path = kind.path + "/" + PercentEncoding.encode(id) + (try query.attributesText())
            let answer = try await json("GET", path, kind.reading, ifAbsent: Self.unknown(kind, id))
            // Some gateways answer with a list of one.
            let found = answer["Resources"] == nil ? answer : answer["Resources"]?[0]
            guard let found else { throw Self.unknown(kind, id) }
            try SCIMPage.check(found, kind.reading)
            return found
        }
    }

    /// The schema of users or groups, which is asked for without SCIM's media type (MAG 10).
    public func schema(of kind: Kind) async throws -> JSON {
        let answer = try await json("GET", "/Schemas/" + kind.schema, .readSchema, headers: [:])
        guard answer["id"]?.string == kind.schema, answer["attributes"]?.array != nil else {
            throw DirectoryError.answerInvalid(.readSchema, reason: "it is not the requested schema")
        }
        return answer
    }

    /// The picture of a user: bytes if the service has them, else its address.
    ///
    /// - Throws: ``DirectoryError/photoAbsent(user:)``, those of ``find(_:_:_:)``
    public func photo(of key: Key) async throws -> Photo {
        let user = try await find(.user, key)
        let photos = user["photos"]?.array ?? []
        let best = photos.first { $0["type"]?.string == "thumbnail" } ?? photos.first
        guard let value = best?["value"]?.string, let photo = Photo(value) else {
            throw DirectoryError.photoAbsent(user: key.text)
        }
        return photo
    }

    // MARK: Changing groups

    /// - Parameter owner: the user who creates it, if known.
    public func createGroup(_ name: String, members: [Key], owner: String?) async throws -> JSON {
        var body: [String: JSON] = [
            "schemas": [.string(Kind.group.schema)], "displayName": .string(name),
            "members": .array(try await resolved(members)),
        ]
        if let owner { body["owner"] = ["value": .string(owner), "display": .string(owner)] }
        let group = try await json("POST", Kind.group.path, .createGroup, body: .object(body))
        try SCIMPage.check(group, .createGroup)
        return group
    }

    /// Adds a user. One who is a member stays one.
    ///
    /// Reads the group and writes it back whole: callers must not change one group twice at the same time.
    public func add(_ user: Key, toGroup group: Key) async throws -> JSON {
        let member = try await resolved([user])[0]
        return try await change(group) { members in
            if !members.contains(where: { $0["value"] == member["value"] }) { members.append(member) }
        }
    }

    /// - Throws: ``DirectoryError/memberUnknown(name:group:)``
    public func remove(_ user: Key, fromGroup group: Key) async throws -> JSON {
        // The user may be gone from the directory, but not from the group.
        let id: String
        do {
            id = try await find(.user, user, .only(["userName"]))["id"]?.string ?? user.text
        } catch DirectoryError.userUnknown {
            id = user.text
        }
        return try await change(group) { members in
            let count = members.count
            members.removeAll { $0["value"]?.string == id }
            guard members.count < count else {
                throw DirectoryError.memberUnknown(name: user.text, group: group.text)
            }
        }
    }

    public func deleteGroup(_ key: Key) async throws {
        let id = try await id(ofGroup: key)
        let path = Kind.group.path + "/" + PercentEncoding.encode(id)
        _ = try await send("DELETE", path, .deleteGroup, ifAbsent: .groupUnknown(name: key.text))
    }

    private func change(_ key: Key, _ change: (inout [JSON]) throws -> Void) async throws -> JSON {
        let id = try await id(ofGroup: key)
        var group = try await find(.group, .id(id)).object ?? [:]
        var members = group["members"]?.array ?? []
        try change(&members)
        group["members"] = .array(members)
        let path = Kind.group.path + "/" + PercentEncoding.encode(id)
        let body = try await send("PUT", path, .changeGroup, body: .object(group))
        // 204 has no body.
        return body.isEmpty ? .object(group) : try Self.json(body, .changeGroup)
    }

    private func id(ofGroup key: Key) async throws -> String {
        guard case .name = key else { return key.text }
        return try await find(.group, key, .only(["displayName"]))["id"]?.string ?? key.text
    }

    /// The members as a group has them.
    private func resolved(_ users: [Key]) async throws -> [JSON] {
        var members: [JSON] = []
        for user in users {
            let found = try await find(.user, user, .only(["userName", "displayName"]))
            let display = found["displayName"] ?? found["userName"] ?? .string(user.text)
            members.append(["value": found["id"] ?? .null, "display": display, "type": "User"])
        }
        return members
    }

    private static func unknown(_ kind: Kind, _ name: String) -> DirectoryError {
        kind == .user ? .userUnknown(name: name) : .groupUnknown(name: name)
    }

    // MARK: Requests

    private static let headers: HTTPHeaders = ["Accept": mediaType, "Content-Type": mediaType]

    /// - Parameter absent: the error if there is nothing at the path; `nil` for a refusal like any other.
    /// - Returns: the body of a success.
    private func send(
        _ method: String, _ path: String, _ operation: DirectoryOperation, body: JSON? = nil,
        headers: HTTPHeaders = Self.headers, ifAbsent absent: DirectoryError? = nil
    ) async throws -> [UInt8] {
        let response = try await server.send(method, base + path, headers: headers, body: body?.bytes)
        if response.status == 404, let absent { throw absent }
        guard response.isSuccess else { throw server.refusal(of: response, operation) }
        return response.body
    }

    private func json(
        _ method: String, _ path: String, _ operation: DirectoryOperation, body: JSON? = nil,
        headers: HTTPHeaders = Self.headers, ifAbsent absent: DirectoryError? = nil
    ) async throws -> JSON {
        try Self.json(
            try await send(method, path, operation, body: body, headers: headers, ifAbsent: absent), operation)
    }

    static func json(_ body: [UInt8], _ operation: DirectoryOperation) throws(DirectoryError) -> JSON {
        guard let json = try? JSON(parsing: body, limit: answerLimit) else {
            throw .answerInvalid(operation, reason: "it is not JSON")
        }
        return json
    }
}

/// The picture of a user.
public enum Photo: Sendable, Equatable {
    case bytes([UInt8], mediaType: String)
    case address(String)

    /// Reads a `data:` URL (`data:image/png;base64,…`), or what ends like one (MAG 10), or an `https` URL.
    init?(_ value: String) {
        if value.hasPrefix("https://") {
            self = .address(value)
            return
        }
        let mark = "base64,"
        guard let end = value.firstRange(of: mark), let bytes = Base64.decode(String(value[end.upperBound...])) else {
            return nil
        }
        let head = value[..<end.lowerBound].split(separator: ";").first ?? ""
        let type = head.hasPrefix("data:") ? String(head.dropFirst(5)) : String(head)
        let isType = type.utf8.allSatisfy { ASCII.isLetterOrDigit($0) || "/+-.".utf8.contains($0) }
        self = .bytes(bytes, mediaType: isType && type.contains("/") ? type : "application/octet-stream")
    }
}
