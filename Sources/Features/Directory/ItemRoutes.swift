import AgentCore
import AgentGateway
import Cryptography
import FoundationEssentials
import Gateway
import GatewayServices
import Groundwork
import LocalAPI

/// Items under keys: in the vault, and at the gateway.
extension ServicesFeature {
    func addItemRoutes(to router: inout Router) {
        for place in ItemEvent.Place.allCases { addItemRoutes(of: place, to: &router) }
        let place = ItemEvent.Place.local
        router.on(
            "DELETE", "/v1/storage/local", needs: .operate,
            .init("Delete all items of a segment on this board", query: Self.segmentQuery, answer: Self.countSchema)
        ) { request in
            let segment = try request.segment()
            let count = try await self.localItems(segment, of: request).deleteAll()
            try self.reportItems(.didDelete(place, segment, key: nil), of: request)
            return .json(["deleted": .integer(Int64(count))])
        }
        router.on(
            "POST", "/v1/storage/local/item", needs: .operate,
            .init(
                "An item on this board that is encrypted with a password",
                body: [
                    "key": .string("key of the item"), "segment": Self.segmentSchema, "password": Self.passwordSchema,
                ],
                required: ["key", "password"], answer: StoredItem.schema())
        ) { request in
            let body = RequestBody(request)
            let items = try await self.localItems(try body.segment(), of: request)
            let password = SecretBytes(utf8: try body.string("password"))
            return .json(try await items.find(try body.string("key"), password: password).json)
        }
    }

    private func addItemRoutes(of place: ItemEvent.Place, to router: inout Router) {
        let (path, here) = ("/v1/storage/\(place.rawValue)", place == .local ? "on this board" : "at the gateway")
        router.on(
            "GET", path, needs: .operate,
            .init(
                "The items stored \(here), by key", query: Self.segmentQuery,
                answer: .object(all: ["items": .array(of: ItemEntry.schema(), "ordered by key")]))
        ) { request in
            let entries = try await self.items(of: place, try request.segment(), of: request).list()
            return .json(["items": .array(entries.map(\.json))])
        }
        let protection =
            place == .local
            ? ["password": Self.passwordSchema]
            : ["sealed": .boolean("whether it is sealed before it is sent, so that only this board can read it")]
        let members = [
            "key": .string("key of the item"), "segment": Self.segmentSchema,
            "type": .string("media type; text/plain by default"),
            "value": Schema.string("the value").asSensitive,
            "encoding": .string("encoding of the value; text by default", choices: ["text", "base64"]),
        ].merging(protection) { own, _ in own }
        router.on(
            "POST", path, needs: .operate,
            .init(
                "Store an item \(here), or replace one", body: members, required: ["key", "value"],
                answer: .object(all: ["saved": .string("its key")]))
        ) { request in
            let body = RequestBody(request)
            let segment = try body.segment()
            let key = try body.string("key")
            try await self.items(of: place, segment, of: request).save(
                key, try body.payload("value"), type: try body.optionalString("type") ?? "text/plain",
                try body.protection())
            try self.reportItems(.didSave(place, segment, key: key), of: request)
            return .json(["saved": .string(key)])
        }
        let query = Self.segmentQuery.merging(["key": .string("key of the item")]) { own, _ in own }
        if place == .local {
            router.on(
                "GET", path + "/item", needs: .operate,
                .init("An item \(here)", query: query, required: ["key"], answer: StoredItem.schema())
            ) { request in
                let items = try await self.localItems(try request.segment(), of: request)
                return .json(try await items.find(request.query["key"] ?? "", password: nil).json)
            }
        } else {
            addCloudItemRoute(path + "/item", query, to: &router)
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

    private func addCloudItemRoute(_ path: String, _ query: [String: Schema], to router: inout Router) {
        router.on(
            "GET", path, needs: .operate,
            .init(
                "An item at the gateway, opened if this board has sealed it",
                query: query.merging(["sealed": .boolean("whether one that is not sealed is refused")]) { own, _ in own
                },
                required: ["key"], answer: Self.cloudItemSchema)
        ) { request in
            let items = try await self.cloudItems(try request.segment(), of: request)
            let demandsSeal = try request.choice("sealed", of: ["true": true, "false": false], default: false)
            let (item, isSealed) = try await items.sealed.find(request.query["key"] ?? "", demandsSeal: demandsSeal)
            return .json(.object((item.json.object ?? [:]).merging(["sealed": .bool(isSealed)]) { own, _ in own }))
        }
    }

    // MARK: Places

    private func items(
        of place: ItemEvent.Place, _ segment: ItemSegment, of request: LocalRequest
    ) async throws -> any Items {
        switch place {
        case .local: try await localItems(segment, of: request)
        case .cloud: try await cloudItems(segment, of: request)
        }
    }

    private func cloudItems(_ segment: ItemSegment, of request: LocalRequest) async throws -> CloudItems {
        let account = try await gateways.account(of: request)
        let storage = try await services(of: request).storage()
        let sealed = SealedStorage(storage, segment, vault: host.vault, scope: account.gateway.identity.scope) {
            guard let user = try await account.session.user()?.userName else { throw GatewayError.userRequired }
            return user
        }
        return CloudItems(storage: storage, sealed: sealed, segment: segment)
    }

    /// - Throws: ``ItemError/localDisabled``, ``ItemError/segmentInvalid``, `GatewayError.userRequired`
    private func localItems(_ segment: ItemSegment, of request: LocalRequest) async throws -> LocalItems {
        guard host.settings[StorageSettings.self].local else { throw ItemError.localDisabled }
        let account = try await gateways.account(of: request)
        if segment != .application { try await account.session.requireUnlocked() }
        let user = segment == .application ? nil : try await account.session.user()?.userName
        if segment == .applicationUser, user == nil { throw GatewayError.userRequired }
        return LocalItems(
            storage: LocalStorage(vault: host.vault, scope: account.gateway.identity.scope) { [time = host.time] in
                time.now
            },
            owner: try LocalStorage.Owner(segment, user: user))
    }

    private func reportItems(_ event: ItemEvent, of request: LocalRequest) throws {
        host.report(event, of: try request.accountName())
    }

    // MARK: Schemas

    private static var segmentSchema: Schema {
        .choice("owner; application by default", of: ItemSegment.self)
    }
    private static var segmentQuery: [String: Schema] { ["segment": segmentSchema] }
    private static var passwordSchema: Schema { Schema.string("encrypts the value; it is not kept").asSensitive }
    private static var countSchema: Schema {
        .object(all: ["deleted": .integer("number of deleted items")])
    }
    private static var cloudItemSchema: Schema {
        .object(
            StoredItem.answer.schemas.merging(["sealed": .boolean("whether this board has sealed it")]) { $1 },
            required: StoredItem.answer.required.union(["sealed"]))
    }
}

/// How a value is kept from others.
private enum ItemProtection {
    /// As its place keeps it.
    case usual
    case password(SecretBytes)
    /// Sealed before it leaves the board.
    case sealed
}

/// What both places can do with the items of a segment.
private protocol Items: Sendable {
    func save(_ key: String, _ value: [UInt8], type: String, _ protection: ItemProtection) async throws
    func list() async throws -> [ItemEntry]
    func delete(_ key: String) async throws -> Bool
}

private struct LocalItems: Items {
    let storage: LocalStorage
    let owner: LocalStorage.Owner

    func save(_ key: String, _ value: [UInt8], type: String, _ protection: ItemProtection) async throws {
        var password: SecretBytes?
        if case .password(let given) = protection { password = given }
        try await storage.save(key, value, type: type, of: owner, password: password)
    }
    func find(_ key: String, password: SecretBytes?) async throws -> StoredItem {
        try await storage.find(key, of: owner, password: password)
    }
    func list() async throws -> [ItemEntry] { try await storage.list(of: owner) }
    func delete(_ key: String) async throws -> Bool { try await storage.delete(key, of: owner) }
    func deleteAll() async throws -> Int { try await storage.deleteAll(of: owner) }
}

private struct CloudItems: Items {
    let storage: CloudStorage
    let sealed: SealedStorage
    let segment: ItemSegment

    func save(_ key: String, _ value: [UInt8], type: String, _ protection: ItemProtection) async throws {
        if case .sealed = protection {
            try await sealed.save(key, value, type: type)
        } else {
            try await storage.save(key, value, type: type, in: segment)
        }
    }
    func list() async throws -> [ItemEntry] { try await storage.list(segment) }
    func delete(_ key: String) async throws -> Bool { try await storage.delete(key, in: segment) }
}

extension StoredItem: Answered {
    package static let answer: Answer<StoredItem> = [
        "key": .of("key of the item") { $0.key }, "type": .of("a media type") { $0.type },
        "modified": .of("when it was saved") { $0.modified },
        "value": .schema(Schema.base64("the value").asSensitive) { Base64.encode($0.value) },
        "text": .schema(Schema.string("the value, if it is UTF-8").asSensitive) {
            String(validating: $0.value, as: UTF8.self)
        },
    ]
}

extension ItemEntry: Answered {
    package static let answer: Answer<ItemEntry> = [
        "key": .of("key of the item") { $0.key }, "type": .of("a media type") { $0.type },
        "modified": .of("when it was saved") { $0.modified },
        "encrypted": .of("whether it is encrypted with a password") { $0.isEncrypted },
    ]
}

extension LocalRequest {
    fileprivate func segment() throws(AgentError) -> ItemSegment { try choice("segment", default: .application) }
}

extension RequestBody {
    fileprivate func protection() throws(AgentError) -> ItemProtection {
        if let password = try optionalString("password") { return .password(SecretBytes(utf8: password)) }
        return try bool("sealed", default: false) ? .sealed : .usual
    }

    fileprivate func segment() throws(AgentError) -> ItemSegment {
        guard let text = try optionalString("segment") else { return .application }
        guard let segment = ItemSegment(rawValue: text) else {
            throw .badRequest(
                member: "segment",
                fault: "is not one of \(ItemSegment.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return segment
    }
}
