import AgentCore
import Cryptography
import Groundwork
import LocalAPI
import Vault

/// Keys of programs that stay in the vault.
extension CryptoFeature {
    /// A key, as answers name it.
    struct Key: Answered {
        let name: String
        /// `nil` for a symmetric key.
        var pair: (keeper: KeyReference.Keeper, key: PublicKey)?

        static let answer: Answer<Key> = [
            "name": .of("its name") { $0.name },
            "kind": .schema(.string("kind of the key", choices: Kind.allCases.map(\.rawValue))) { $0.kind.rawValue },
            "keeper": .schema(
                .string("where a key pair is", choices: KeyReference.Keeper.allCases.map(\.rawValue))
            ) { $0.pair?.keeper.rawValue },
            "publicKey": .schema(.base64("of a key pair: SubjectPublicKeyInfo (RFC 5280) in DER")) {
                $0.pair.map { Base64.encode($0.key.spki) }
            },
        ]

        /// Whether it has a name, or its public half has.
        func isNamed(_ text: String) -> Bool { text == name || pair != nil && text == name + ".public" }

        private var kind: Kind {
            guard let pair else { return .aes }
            guard let modulus = pair.key.rsaModulus else { return .p256 }
            return modulus.count > 256 ? .rsa3072 : .rsa2048
        }
    }

    enum Kind: String, CaseIterable {
        case aes = "aes-256"
        case rsa2048 = "rsa-2048"
        case rsa3072 = "rsa-3072"
        case p256 = "p-256"

        /// `nil` for a symmetric key.
        var algorithm: PrivateKey.Algorithm? {
            switch self {
            case .aes: nil
            case .rsa2048: .rsa(bits: 2048)
            case .rsa3072: .rsa(bits: 3072)
            case .p256: .p256
            }
        }
    }

    func addKeyRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/crypto/keys", needs: .call,
            .init(
                "The keys of programs that stay in the vault", query: ["uid": Self.uidSchema],
                answer: .object(all: ["keys": .array(of: .cryptoKey, "by name")]))
        ) { request in
            let owner = try await self.owner(ofQuery: request)
            let keys = try await self.keys(of: owner)
            return .json(["keys": .array(keys.map(\.json))])
        }
        router.on(
            "POST", "/v1/crypto/keys", needs: .call,
            .init(
                "Make a key that stays in the vault, or in hardware",
                body: [
                    "name": .string("1 to \(KeyReference.nameLimit) lower-case letters, digits and hyphens"),
                    "kind": .string("aes-256 by default", choices: Kind.allCases.map(\.rawValue)),
                    "keeper": .string(
                        "where a key pair is made; software by default",
                        choices: KeyReference.Keeper.allCases.map(\.rawValue)),
                    "level": Self.levelSchema("always by default"), "uid": Self.uidSchema,
                ], required: ["name"], answer: .cryptoKey)
        ) { request in
            let body = RequestBody(request)
            let owner = try await self.owner(request, body)
            // A chip makes one key a minute, and signs for the board nothing meanwhile.
            let isInHardware = body["keeper"].map { $0.string != KeyReference.Keeper.software.rawValue } ?? false
            guard !isInHardware || request.mayOperate else { throw request.denied(.operate) }
            return .json(try await self.make(body, owner).json)
        }
        router.on(
            "GET", "/v1/crypto/keys/{key}", needs: .call,
            .init(
                "A key pair, with its public half", path: Self.keyPath, query: ["uid": Self.uidSchema],
                answer: .cryptoKey)
        ) { request in
            let owner = try await self.owner(ofQuery: request)
            let name = request.parameters["key"] ?? ""
            guard let key = try await self.keys(of: owner).first(where: { $0.isNamed(name) }) else {
                throw ObjectError.notFound(name: DisplayText.clean(name))
            }
            return .json(key.json)
        }
        router.on(
            "DELETE", "/v1/crypto/keys/{key}", needs: .call,
            .init(
                "Remove a key for good: what it encrypted cannot be decrypted any more", path: Self.keyPath,
                query: ["uid": Self.uidSchema], answer: .object(all: ["removed": .string("its name")]))
        ) { request in
            let owner = try await self.owner(ofQuery: request)
            let name = request.parameters["key"] ?? ""
            try await self.service.remove(name, of: owner)
            return .json(["removed": .string(name)])
        }
    }

    private static let keyPath: [String: Schema] = ["key": .string("its name")]

    static func levelSchema(_ preset: String) -> Schema {
        .string("level of protection, such as KeychainDataAccessibleAlways; " + preset)
    }

    private func keys(of owner: UInt32) async throws -> [Key] {
        let pairs = try await service.pairs(of: owner).map {
            Key(name: $0.reference.name, pair: ($0.reference.keeper, $0.key))
        }
        return try await (service.keys(of: owner).map { Key(name: $0) } + pairs).sorted { $0.name < $1.name }
    }

    private func make(_ body: RequestBody, _ owner: UInt32) async throws -> Key {
        let name = try body.string("name")
        let kind = try body.optionalString("kind").flatMap(Kind.init) ?? .aes
        let keeper = try body.optionalString("keeper").flatMap(KeyReference.Keeper.init) ?? .software
        let level = try body.optionalString("level").map { name throws(ObjectError) in
            try LevelName(parsing: name).level
        }
        guard let algorithm = kind.algorithm else {
            guard keeper == .software else { throw ObjectError.keeperUnfit(keeper) }
            try await service.makeKey(name, of: owner, level: level ?? .always)
            return Key(name: name)
        }
        let key = try await service.makePair(name, algorithm, in: keeper, of: owner, level: level ?? .always)
        return Key(name: name, pair: (keeper, key))
    }
}

extension Schema {
    fileprivate static var cryptoKey: Schema {
        named("CryptoKey", CryptoFeature.Key.answer.schema("A key that stays in the vault, or in hardware"))
    }
}
