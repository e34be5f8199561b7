import AgentCore
import Cryptography
import Groundwork
import LocalAPI
import Vault

/// Digests, encryption and decryption.
extension CryptoFeature {
    func addFormatRoutes(to router: inout Router) {
        router.on(
            "POST", "/v1/crypto/hash", needs: .call,
            .init(
                "The digest of a text, as Oracle's mobile SDK stores it",
                body: Self.textMembers.merging([
                    "algorithm": .string("such as SHA-256 or SaltedSHA-256"),
                    "saltBits": .integer("makes a salt of upper-case hexadecimal digits", in: -4096...4096),
                    "salt": Schema.string("the salt as text").asSensitive,
                    "saltBytes": Schema.base64("the salt").asSensitive,
                    "prefix": .boolean("whether the name of the algorithm precedes it; true by default"),
                    "appendSalt": .boolean("whether the salt follows the digest; as the algorithm has one by default"),
                ]) { own, _ in own }, required: ["text", "algorithm"],
                answer: .object(
                    [
                        "digest": Schema.string("the digest in base64, with prefix and salt").asSensitive,
                        "salt": Schema.base64("the salt").asSensitive,
                    ], required: ["digest"]))
        ) { request in
            let (body, _) = try await self.begin(.hash, request)
            return .json(try Self.hash(body))
        }
        router.on(
            "POST", "/v1/crypto/verify", needs: .call,
            .init(
                "Whether a stored digest is that of a text",
                body: Self.textMembers.merging([
                    "digest": Schema.string("the stored digest, with its prefix").asSensitive,
                    "legacy": Self.legacySchema,
                ]) { own, _ in own }, required: ["text", "digest"],
                answer: .object(all: ["valid": .boolean("whether it is")]))
        ) { request in
            let (body, _) = try await self.begin(.verify, request)
            let digest = try SaltedDigest(parsing: try body.string("digest"))
            let isValid = try digest.matches(try body.secret("text"), legacy: try self.legacy(body))
            return .json(["valid": .bool(isValid)])
        }
        addCipherRoutes(to: &router)
    }

    private func addCipherRoutes(to router: inout Router) {
        let cipher: [String: Schema] = [
            "key": .string("name of a symmetric key (latchkey crypto keys); or give a secret"),
            "secret": Schema.base64("a key of the program's own, for the formats of Oracle's mobile SDK").asSensitive,
            "algorithm": .string("with a secret: AES (CBC, PKCS7), or all three as in AES/ECB/NoPadding"),
            "vector": .base64("with a secret: the initialization vector"), "legacy": Self.legacySchema,
        ]
        router.on(
            "POST", "/v1/crypto/encrypt", needs: .call,
            .init(
                "Encrypt a text with a key that stays in the vault, or in a format of Oracle's mobile SDK",
                body: Self.textMembers.merging(cipher) { own, _ in own }.merging([
                    "prefix": .boolean("with a secret: whether the name of the algorithm precedes it; true by default")
                ]) { own, _ in own }, required: ["text"],
                answer: .object(
                    [
                        "ciphertext": .string("what was encrypted"),
                        "vector": .base64("with a secret: the initialization vector, made unless it was given"),
                    ], required: ["ciphertext"]))
        ) { request in
            let (body, owner) = try await self.begin(.encrypt, request)
            let text = try body.secret("text")
            guard let key = try body.optionalString("key") else { return .json(try self.encrypt(text, body)) }
            try Self.refuseSecret(in: body)
            let sealed = try await self.service.encrypt(text, with: key, of: owner)
            return .json(["ciphertext": .string(Base64.encode(sealed))])
        }
        router.on(
            "POST", "/v1/crypto/decrypt", needs: .call,
            .init(
                "Decrypt what the same key encrypted",
                body: cipher.merging([
                    "ciphertext": .string("what was encrypted, with its prefix or without"), "uid": Self.uidSchema,
                ]) { own, _ in own }, required: ["ciphertext"], answer: Self.valueSchema)
        ) { request in
            let (body, owner) = try await self.begin(.decrypt, request)
            let ciphertext = try body.string("ciphertext")
            guard let key = try body.optionalString("key") else {
                return .json(Self.value(try self.decrypt(ciphertext, body)))
            }
            try Self.refuseSecret(in: body)
            guard let sealed = Base64.decode(ciphertext) else { throw FormatError.undecryptable }
            return .json(Self.value(try await self.service.decrypt(sealed, with: key, of: owner)))
        }
    }

    private static func refuseSecret(in body: RequestBody) throws(AgentError) {
        for member in ["secret", "algorithm", "vector", "legacy", "prefix"] where body[member] != nil {
            throw .badRequest(member: member, fault: "requires a secret instead of a key")
        }
    }

    private static func hash(_ body: RequestBody) throws -> JSON {
        let name = try body.string("algorithm")
        let isSalted = try SaltedDigest.algorithm(named: name).isSalted
        var salts: [[UInt8]] = []
        if let text = try body.optionalString("salt") { salts.append(Array(text.utf8)) }
        if let bytes = try body.optionalBytes("saltBytes") { salts.append(bytes) }
        if let bits = try body.optionalInteger("saltBits", in: -4096...4096) {
            salts.append(try SaltedDigest.salt(bits: Int(bits)))
        }
        guard salts.count <= 1 else { throw AgentError.badRequest(member: "salt", fault: "is given more than once") }
        let digest = try SaltedDigest(of: try body.secret("text"), by: name, salt: salts.first ?? [])
        let appendsSalt = try body.bool("appendSalt", default: isSalted)
        guard isSalted || !appendsSalt else { throw FormatError.saltAppended }
        let text = Base64.encode(digest.digest + (appendsSalt ? digest.salt : []))
        let prefix = try body.bool("prefix", default: true) ? "{\(digest.name)}" : ""
        var answer: [String: JSON] = ["digest": .string(prefix + text)]
        if isSalted { answer["salt"] = .string(Base64.encode(digest.salt)) }
        return .object(answer)
    }

    private func encrypt(_ text: SecretBytes, _ body: RequestBody) throws -> JSON {
        let form = try CipherForm(prefix: try body.string("algorithm"))
        var vector = try body.optionalBytes("vector")
        if vector == nil, form.mode == .cbc { vector = try Random.bytes(form.algorithm.blockSize) }
        let sealed = try PrefixedCipher(
            encrypting: text, as: form, key: try Self.secretKey(body), vector: vector, legacy: try legacy(body))
        let hasPrefix = try body.bool("prefix", default: true)
        var answer: [String: JSON] = [
            "ciphertext": .string(hasPrefix ? sealed.text : Base64.encode(sealed.ciphertext))
        ]
        answer["vector"] = vector.map { .string(Base64.encode($0)) }
        return .object(answer)
    }

    private func decrypt(_ text: String, _ body: RequestBody) throws -> SecretBytes {
        let said = try body.optionalString("algorithm").map { name throws(FormatError) in try CipherForm(prefix: name) }
        let sealed: PrefixedCipher
        if text.hasPrefix("{") {
            sealed = try PrefixedCipher(parsing: text, usual: (said?.mode ?? .cbc, said?.padding ?? .pkcs7))
            guard said == nil || said == sealed.form else { throw FormatError.unknownAlgorithm }
        } else {
            guard let said, let bytes = Base64.decode(text) else { throw FormatError.notPrefixed }
            sealed = PrefixedCipher(form: said, ciphertext: bytes)
        }
        return try sealed.decrypted(
            key: try Self.secretKey(body), vector: try body.optionalBytes("vector"), legacy: try legacy(body))
    }

    private static func secretKey(_ body: RequestBody) throws(AgentError) -> SecretBytes {
        var bytes = try body.bytes("secret")
        defer { wipe(&bytes) }
        return SecretBytes(bytes)
    }
}
