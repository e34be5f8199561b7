import AgentCore
import Cryptography
import Groundwork
import LocalAPI
import Vault

/// The keys that bodies of calls may be signed with.
extension SigningFeature {
    package func addKeyRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/keys", needs: .operate,
            .init(
                "The keys that can sign bodies of calls, besides the device's own",
                answer: .object(all: ["keys": .array(of: .signingKey, "by name")]))
        ) { _ in
            .json(["keys": .array(try await self.keys.all().map { Self.report($0.name, $0.key) })])
        }
        router.on(
            "POST", "/v1/keys", needs: .operate,
            .init(
                "Store a signing key, or generate one: RSA of 2048 bits",
                body: [
                    "name": .string("1 to 64 lower-case letters, digits and hyphens"),
                    "pem": Schema.string("an unencrypted private key, PKCS#8; without it, one is generated")
                        .asSensitive,
                    "pkcs12": Schema.base64("a PKCS#12 file with one private key instead").asSensitive,
                    "password": Schema.string("password of that file; empty by default").asSensitive,
                ], required: ["name"], answer: .signingKey)
        ) { request in
            let body = RequestBody(request)
            let name = try body.string("name")
            return .json(Self.report(name, try await self.keys.add(name, from: Self.keySource(body))))
        }
        router.on(
            "DELETE", "/v1/keys/{key}", needs: .operate,
            .init(
                "Remove a key", path: ["key": .string("its name")],
                answer: .object(all: ["removed": .string("its name")]))
        ) { request in
            let name = request.parameters["key"] ?? ""
            try await self.keys.remove(name)
            return .json(["removed": .string(name)])
        }
    }

    /// - Throws: ``AgentError/badRequest(member:fault:)``
    private static func keySource(_ body: RequestBody) throws(AgentError) -> NamedKeys.Source {
        let (pem, pkcs12) = (try body.optionalString("pem"), try body.optionalString("pkcs12"))
        let password = try body.optionalString("password")
        guard pem == nil || pkcs12 == nil else {
            throw .badRequest(member: "the body", fault: "has more than one of pem, pkcs12")
        }
        guard let pkcs12 else {
            guard password == nil else { throw .badRequest(member: "password", fault: "requires pkcs12") }
            return pem.map { .pem(SecretBytes(utf8: $0)) } ?? .made(.rsa(bits: 2048))
        }
        guard var file = Base64.decode(pkcs12) else { throw .badRequest(member: "pkcs12", fault: "is not base64") }
        defer { wipe(&file) }
        return .pkcs12(SecretBytes(file), password: SecretBytes(utf8: password ?? ""))
    }

    private static func report(_ name: String, _ key: PublicKey) -> JSON { answer.json((name, key)) }

    fileprivate static let answer: Answer<(name: String, key: PublicKey)> = [
        "name": .of("name that calls use") { $0.name },
        "publicKey": .schema(.base64("SubjectPublicKeyInfo (RFC 5280) in DER, to verify signatures with")) {
            Base64.encode($0.key.spki)
        },
        "algorithm": .schema(.string("algorithm of its signatures", choices: ["RS256", "ES256"])) {
            ($0.key.rsaModulus == nil ? JWS.Algorithm.ES256 : .RS256).rawValue
        },
    ]
}

extension Schema {
    fileprivate static var signingKey: Schema {
        named("SigningKey", SigningFeature.answer.schema("A key that can sign bodies of calls"))
    }
}
