import AgentCore
import Cryptography
import Groundwork
import LocalAPI
import Vault

/// Credentials of programs.
extension CryptoFeature {
    func addCredentialRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/credentials", needs: .call,
            .init(
                "The credentials of programs, by key, without their values", query: ["uid": Self.uidSchema],
                answer: .object(all: ["credentials": .array(of: .credentialEntry, "ordered by key")]))
        ) { request in
            let entries = try await self.credentials.list(of: try await self.owner(ofQuery: request))
            return .json(["credentials": .array(entries.map { Self.entry.json($0) })])
        }
        router.on(
            "POST", "/v1/credentials", needs: .call,
            .init(
                "Store a credential, or replace one, which keeps its properties",
                body: [
                    "key": .string("1 to \(CredentialStore.nameLimit) bytes in one line, without a slash"),
                    "user": .string("name of the user"), "tenant": .string("tenant of the user"),
                    "value": Schema.string("the password or another secret").asSensitive,
                    "encoding": .string("text by default; base64 for bytes", choices: ["text", "base64"]),
                    "level": Self.levelSchema("KeychainDataAccessibleWhenUnlockedThisDeviceOnly by default"),
                    "new": .boolean("whether one that is there, and not empty, is refused"), "uid": Self.uidSchema,
                ], required: ["key"], answer: Self.keyAnswer("stored"))
        ) { request in
            let body = RequestBody(request)
            let owner = try await self.owner(request, body)
            let key = try body.string("key")
            try await self.credentials.put(
                try Self.credential(body), as: key, isNew: try body.bool("new", default: false), of: owner)
            return .json(["stored": .string(key)])
        }
        router.on(
            "GET", "/v1/credentials/{key}", needs: .call,
            .init(
                "A credential; one that was deleted is empty", path: Self.credentialPath,
                query: [
                    "as": .string("refuses a value of the other kind", choices: ["text", "bytes"]),
                    "uid": Self.uidSchema,
                ], answer: Self.credential.schema())
        ) { request in
            let owner = try await self.owner(ofQuery: request)
            let key = request.parameters["key"] ?? ""
            let credential = try await self.credentials.get(key, of: owner)
            if let kind = request.query["as"], let value = credential.value, value.isText != (kind == "text") {
                throw ObjectError.wrongKind(name: DisplayText.clean(key))
            }
            return .json(Self.credential.json((key, credential)))
        }
        router.on(
            "DELETE", "/v1/credentials/{key}", needs: .call,
            .init(
                "Empty a credential, or remove it with its key", path: Self.credentialPath,
                query: [
                    "forget": .boolean("whether the key is removed, too"), "uid": Self.uidSchema,
                ], answer: Self.keyAnswer("deleted"))
        ) { request in
            let owner = try await self.owner(ofQuery: request)
            let key = request.parameters["key"] ?? ""
            if request.query["forget"] == "true" {
                try await self.credentials.forget(key, of: owner)
            } else {
                try await self.credentials.delete(key, of: owner)
            }
            return .json(["deleted": .string(key)])
        }
        addPropertyRoutes(to: &router)
    }

    private func addPropertyRoutes(to router: inout Router) {
        router.on(
            "POST", "/v1/credentials/{key}/properties", needs: .call,
            .init(
                "Set a property of a credential", path: Self.credentialPath,
                body: [
                    "name": .string("1 to \(CredentialStore.nameLimit) bytes in one line, without a slash"),
                    "value": Schema.string("its value").asSensitive, "label": .string("for people"),
                    "description": .string("for people"), "uid": Self.uidSchema,
                ], required: ["name", "value"], answer: Self.keyAnswer("stored"))
        ) { request in
            let body = RequestBody(request)
            let owner = try await self.owner(request, body)
            let property = Credential.Property(
                value: try body.string("value"), label: try body.optionalString("label"),
                description: try body.optionalString("description"))
            let name = try body.string("name")
            try await self.credentials.setProperty(
                name, to: property, of: request.parameters["key"] ?? "", of: owner)
            return .json(["stored": .string(name)])
        }
        router.on(
            "DELETE", "/v1/credentials/{key}/properties/{property}", needs: .call,
            .init(
                "Remove a property of a credential",
                path: Self.credentialPath.merging(["property": .string("its name")]) { own, _ in own },
                query: ["uid": Self.uidSchema], answer: Self.keyAnswer("deleted"))
        ) { request in
            let owner = try await self.owner(ofQuery: request)
            let name = request.parameters["property"] ?? ""
            try await self.credentials.setProperty(name, to: nil, of: request.parameters["key"] ?? "", of: owner)
            return .json(["deleted": .string(name)])
        }
    }

    private static let credentialPath: [String: Schema] = ["key": .string("its key")]

    private static func keyAnswer(_ member: String) -> Schema { .object(all: [member: .string("its key or name")]) }

    private static func credential(_ body: RequestBody) throws -> Credential {
        let name = try body.optionalString("level")
        let level = try name.map { name throws(ObjectError) in try LevelName(parsing: name) }
        var credential = Credential(
            user: try body.optionalString("user"), tenant: try body.optionalString("tenant"),
            level: level ?? .whenUnlockedThisDeviceOnly)
        guard try body.optionalString("value") != nil else { return credential }
        let secret = try body.secret("value")
        credential.value = try body.optionalString("encoding") == "base64" ? .bytes(secret) : .text(secret)
        return credential
    }

    // MARK: Answers

    fileprivate static let entry: Answer<CredentialStore.Entry> = [
        "key": .of("its key") { $0.name }, "locked": .of("whether its level is locked") { $0.credential == nil },
        "empty": .of("whether it was deleted") { $0.credential?.isEmpty },
        "user": .of("name of the user") { $0.credential?.user },
        "tenant": .of("tenant of the user") { $0.credential?.tenant },
        "level": .of("level of protection") { $0.credential?.level.rawValue },
    ]

    private static let credential: Answer<(key: String, credential: Credential)> = [
        "key": .of("its key") { $0.key }, "user": .of("name of the user") { $0.credential.user },
        "tenant": .of("tenant of the user") { $0.credential.tenant },
        "level": .of("level of protection") { $0.credential.level.rawValue },
        "value": .schema(Schema.base64("the value").asSensitive) { answer in
            answer.credential.value.map { value in value.content.withUnsafeBytes { Base64.encode($0) } }
        },
        "text": .schema(Schema.string("the value, if it was stored as text").asSensitive) { answer in
            answer.credential.value.flatMap { $0.isText ? $0.content.exposedText() : nil }
        },
        "properties": .schema(.array(of: .credentialProperty, "by name")) { answer in
            answer.credential.properties.sorted { $0.key < $1.key }.map { property.json(($0.key, $0.value)) }
        },
    ]

    fileprivate static let property: Answer<(name: String, property: Credential.Property)> = [
        "name": .of("its name") { $0.name },
        "value": .schema(Schema.string("its value").asSensitive) { $0.property.value },
        "label": .of("for people") { $0.property.label },
        "description": .of("for people") { $0.property.description },
    ]
}

extension Schema {
    fileprivate static var credentialEntry: Schema {
        named("CredentialEntry", CryptoFeature.entry.schema("A credential without its value"))
    }
    fileprivate static var credentialProperty: Schema {
        named("CredentialProperty", CryptoFeature.property.schema("A property of a credential"))
    }
}
