import AgentCore
import Cryptography
import Groundwork
import LocalAPI
import Vault

/// What key pairs do.
extension CryptoFeature {
    private static let algorithms = [JWS.Algorithm.RS256, .PS256, .ES256]

    func addPairRoutes(to router: inout Router) {
        let members = Self.textMembers.merging([
            "key": .string("tag of the key pair, or the name of the half that is used"),
            "algorithm": .string(
                "RS256 or ES256 by default, as the key is", choices: Self.algorithms.map(\.rawValue)),
        ]) { own, _ in own }
        router.on(
            "POST", "/v1/crypto/sign", needs: .call,
            .init(
                "Sign a text with the private half of a key pair", body: members, required: ["key", "text"],
                answer: .object(all: [
                    "signature": .base64("in the format of RFC 7518 section 3"),
                    "algorithm": .string("its algorithm", choices: Self.algorithms.map(\.rawValue)),
                ]))
        ) { request in
            let (body, owner) = try await self.begin(.sign, request)
            let signed = try await self.service.sign(
                try body.payload("text"), with: try body.string("key"), by: try Self.algorithm(body), of: owner)
            return .json([
                "signature": .string(Base64.encode(signed.signature)), "algorithm": .string(signed.algorithm.rawValue),
            ])
        }
        router.on(
            "POST", "/v1/crypto/check", needs: .call,
            .init(
                "Whether a signature is that of a text",
                body: members.merging(["signature": .base64("the signature")]) { own, _ in own },
                required: ["key", "text", "signature"],
                answer: .object(all: ["valid": .boolean("whether it is")]))
        ) { request in
            let (body, owner) = try await self.begin(.check, request)
            let isValid = try await self.service.verifies(
                try body.bytes("signature"), of: try body.payload("text"), with: try body.string("key"),
                by: try Self.algorithm(body), of: owner)
            return .json(["valid": .bool(isValid)])
        }
        addWrapRoutes(to: &router)
    }

    private func addWrapRoutes(to router: inout Router) {
        let key = ["key": Schema.string("tag of an RSA key pair, or the name of the half that is used")]
        router.on(
            "POST", "/v1/crypto/wrap", needs: .call,
            .init(
                "Encrypt a short secret with the public half of a key pair: RSA-OAEP with SHA-256",
                body: Self.textMembers.merging(key) { own, _ in own }, required: ["key", "text"],
                answer: .object(all: ["wrapped": .base64("what was encrypted")]))
        ) { request in
            let (body, owner) = try await self.begin(.wrap, request)
            let wrapped = try await self.service.wrap(
                try body.secret("text"), with: try body.string("key"), of: owner)
            return .json(["wrapped": .string(Base64.encode(wrapped))])
        }
        router.on(
            "POST", "/v1/crypto/unwrap", needs: .call,
            .init(
                "Decrypt a short secret with the private half of a key pair",
                body: key.merging([
                    "wrapped": .base64("what was encrypted"), "uid": Self.uidSchema,
                    "legacy": .boolean("whether it is in the old format, PKCS #1 v1.5, if crypto.legacy is set"),
                ]) { own, _ in own }, required: ["key", "wrapped"], answer: Self.valueSchema)
        ) { request in
            let (body, owner) = try await self.begin(.unwrap, request)
            let secret = try await self.service.unwrap(
                try body.bytes("wrapped"), with: try body.string("key"), legacy: try self.legacy(body), of: owner)
            return .json(Self.value(secret))
        }
    }

    private static func algorithm(_ body: RequestBody) throws(AgentError) -> JWS.Algorithm? {
        try body.optionalString("algorithm").flatMap(JWS.Algorithm.init)
    }
}
