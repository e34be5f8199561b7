import Cryptography
import FoundationEssentials
import Gateway
import GatewayServices
import Groundwork
import LocalAPI

/// Items under keys: in the vault, and at the gateway.
extension Agent {
    nonisolated func addItemRoutes(to router: inout Router) {
        for place in ItemEvent.Place.allCases { addItemRoutes(of: place, to: &router) }
        let place = ItemEvent.Place.local
        router.on(
            "DELETE", "/v1/storage/local", needs: .operate,
            .init("Delete all items of a segment here", query: Self.segmentQuery, answer: Self.countSchema)
        ) { request in
            let segment = try request.segment()
            let count = try await self.localItems(segment, of: request).deleteAll()
            try self.reportItems(.didDelete(place, segment, key: nil), of: request)
            return .json(["deleted": .integer(Int64(count))])
        }
        router.on(
            "POST", "/v1/storage/local/item", needs: .operate,
            .init(
                "An item here that is encrypted with a password",
                body: ["key": .string("of the item"), "segment": Self.segmentSchema, "password": Self.passwordSchema],
                required: ["key", "password"], answer: Self.itemSchema)
        ) { request in
            let body = try RequestBody(request)
            let items = try await self.localItems(try body.segment(), of: request)
            let password = SecretBytes(utf8: try body.string("password"))
            return .json(try await items.find(try body.string("key"), password: password).json)
        }
    }

    private nonisolated func addItemRoutes(of place: ItemEvent.Place, to router: inout Router) {
        let (path, here) = ("/v1/storage/\(place.rawValue)", place == .local ? "here" : "at the gateway")
        router.on(
            "GET", path, needs: .operate,
            .init(
                "What is stored \(here) under keys", query: Self.segmentQuery,
                answer: .object(["items": .array(of: Self.entrySchema, "ordered by key")], required: ["items"]))
        ) { request in
            let entries = try await self.items(of: place, try request.segment(), of: request).list()
            return .json(["items": .array(entries.map(\.json))])
        }
        let password = place == .local ? ["password": Self.passwordSchema] : [:]
        let members = [
            "key": .string("of the item"), "segment": Self.segmentSchema, "type": .string("text/plain unless given"),
            "value": Schema.string("what is stored").asSensitive,
            "encoding": .string("of the value; text unless given", choices: ["text", "base64"]),
        ].merging(password) { own, _ in own }
        router.on(
            "POST", path, needs: .operate,
            .init(
                "Store an item \(here), new or in place of an earlier one", body: members, required: ["key", "value"],
                answer: .object(["saved": .string("its key")], required: ["saved"]))
        ) { request in
            let body = try RequestBody(request)
            let segment = try body.segment()
            let key = try body.string("key")
            try await self.items(of: place, segment, of: request).save(
                key, try body.payload("value"), type: try body.optionalString("type") ?? "text/plain",
                password: try body.optionalString("password").map { SecretBytes(utf8: $0) })
            try self.reportItems(.didSave(place, segment, key: key), of: request)
            return .json(["saved": .string(key)])
        }
        let query = Self.segmentQuery.merging(["key": .string("of the item")]) { own, _ in own }
        router.on(
            "GET", path + "/item", needs: .operate,
            .init("An item \(here)", query: query, required: ["key"], answer: Self.itemSchema)
        ) { request in
            let items = try await self.items(of: place, try request.segment(), of: request)
            return .json(try await items.find(request.query["key"] ?? "").json)
        }
        router.on(
            "DELETE", path + "/item", needs: .operate,
            .init("Delete an item \(here)", query: query, required: ["key"], answer: Self.countSchema)
        ) { request in
            let segment = try request.segment()
            let key = request.query["key"] ?? ""
            let existed = try await self.items(of: place, segment, of: request).delete(key)
            if existed { try self.reportItems(.didDelete(place, segment, key: key), of: request) }
            return .json(["deleted": existed ? 1 : 0])
        }
    }

    // MARK: Places

    private func items(
        of place: ItemEvent.Place, _ segment: ItemSegment, of request: LocalRequest
    ) async throws -> any Items {
        switch place {
        case .local: try await localItems(segment, of: request)
        case .cloud: CloudItems(storage: try await services(of: request).storage(), segment: segment)
        }
    }

    /// - Throws: ``ItemError/localDisabled``, ``ItemError/segmentInvalid``, `GatewayError.userRequired`
    private func localItems(_ segment: ItemSegment, of request: LocalRequest) async throws -> LocalItems {
        guard configuration[ServicesFeature.localStorage] else { throw ItemError.localDisabled }
        let account = try await account(of: request)
        if segment != .application { try await account.session.requireUnlocked() }
        let user = segment == .application ? nil : try await account.session.user()?.userName
        if segment == .applicationUser, user == nil { throw GatewayError.userRequired }
        return LocalItems(
            storage: LocalStorage(vault: vault, scope: account.gateway.identity.scope) { [time] in time.now },
            owner: try LocalStorage.Owner(segment, user: user))
    }

    private nonisolated func reportItems(_ event: ItemEvent, of request: LocalRequest) throws {
        report(.items(event), of: try request.accountName())
    }

    // MARK: Schemas

    private static var segmentSchema: Schema {
        .choice("whose it is; application unless given", of: ItemSegment.self)
    }
    private static var segmentQuery: [String: Schema] { ["segment": segmentSchema] }
    private static var passwordSchema: Schema { Schema.string("encrypts the value; it is not kept").asSensitive }
    private static var countSchema: Schema {
        .object(["deleted": .integer("how many are gone")], required: ["deleted"])
    }
    private static var ofEveryItem: [String: Schema] {
        [
            "key": .string("of the item"), "type": .string("a media type"), "modified": .string("when it was saved"),
        ]
    }
    private static var entrySchema: Schema {
        .object(
            ofEveryItem.merging(["encrypted": .boolean("whether with a password")]) { own, _ in own },
            required: ["key", "type", "encrypted"])
    }
    private static var itemSchema: Schema {
        .object(
            ofEveryItem.merging([
                "value": Schema.base64("what was stored").asSensitive,
                "text": Schema.string("what was stored, where it is UTF-8").asSensitive,
            ]) { own, _ in own }, required: ["key", "type", "value"])
    }
}

/// What both places can do with the items of a segment.
private protocol Items: Sendable {
    func save(_ key: String, _ value: [UInt8], type: String, password: SecretBytes?) async throws
    func find(_ key: String) async throws -> StoredItem
    func list() async throws -> [ItemEntry]
    func delete(_ key: String) async throws -> Bool
}

private struct LocalItems: Items {
    let storage: LocalStorage
    let owner: LocalStorage.Owner

    func save(_ key: String, _ value: [UInt8], type: String, password: SecretBytes?) async throws {
        try await storage.save(key, value, type: type, of: owner, password: password)
    }
    func find(_ key: String) async throws -> StoredItem { try await find(key, password: nil) }
    func find(_ key: String, password: SecretBytes?) async throws -> StoredItem {
        try await storage.find(key, of: owner, password: password)
    }
    func list() async throws -> [ItemEntry] { try await storage.list(of: owner) }
    func delete(_ key: String) async throws -> Bool { try await storage.delete(key, of: owner) }
    func deleteAll() async throws -> Int { try await storage.deleteAll(of: owner) }
}

private struct CloudItems: Items {
    let storage: CloudStorage
    let segment: ItemSegment

    func save(_ key: String, _ value: [UInt8], type: String, password: SecretBytes?) async throws {
        try await storage.save(key, value, type: type, in: segment)
    }
    func find(_ key: String) async throws -> StoredItem { try await storage.find(key, in: segment) }
    func list() async throws -> [ItemEntry] { try await storage.list(segment) }
    func delete(_ key: String) async throws -> Bool { try await storage.delete(key, in: segment) }
}

extension StoredItem {
    fileprivate var json: JSON {
        var members: [String: JSON] = [
            "key": .string(key), "type": .string(type), "value": .string(Base64.encode(value)),
        ]
        members["modified"] = modified.map(JSON.string)
        members["text"] = String(validating: value, as: UTF8.self).map(JSON.string)
        return .object(members)
    }
}

extension ItemEntry {
    fileprivate var json: JSON {
        var members: [String: JSON] = [
            "key": .string(key), "type": .string(type), "encrypted": .bool(isEncrypted),
        ]
        members["modified"] = modified.map(JSON.string)
        return .object(members)
    }
}

extension LocalRequest {
    fileprivate func segment() throws(AgentError) -> ItemSegment { try choice("segment", default: .application) }
}

extension RequestBody {
    fileprivate func segment() throws(AgentError) -> ItemSegment {
        guard let text = try optionalString("segment") else { return .application }
        guard let segment = ItemSegment(rawValue: text) else {
            throw .badRequest(
                member: "segment",
                fault: "is none of \(ItemSegment.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return segment
    }
}
