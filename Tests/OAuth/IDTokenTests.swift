import Cryptography
import Foundation
import Groundwork
import Testing

@testable import OAuth

@Suite("id_token validation")
struct IDTokenTests {
    private static let secret = SecretBytes(utf8: "a client secret of good length 0123456789")
    // Cannot fail where the tests can run at all.
    private static let key = try! PrivateKey(generating: .rsa(bits: 2048))
    private static let algorithms: Set<JWS.Algorithm> = [.HS256, .RS256]
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private static func neededKey(_ token: String) throws(IDTokenFault) -> String? {
        try IDTokenValidation.neededKey(token, algorithms: algorithms)
    }

    private var validation: IDTokenValidation {
        IDTokenValidation(
            client: ClientAuthentication(id: "c900", secret: Self.secret, expires: nil),
            rules: [.text("azp", "mag-1")], now: now, algorithms: Self.algorithms)
    }

    private func claims(_ changes: [String: JSON?] = [:]) -> JSON {
        var claims: [String: JSON] = [
            "aud": "c900", "azp": "mag-1", "exp": 1_800_000_060, "sub": "x", "iss": "http://gw/connect",
        ]
        for (name, value) in changes { claims[name] = value }
        return .object(claims)
    }

    private func token(
        _ payload: JSON, _ algorithm: JWS.Algorithm = .HS256, key: JWS.SigningKey = .hmac(secret), keyID: String? = nil
    ) throws -> String {
        try JWS.sign(payload.bytes, algorithm: algorithm, key: key, keyID: keyID)
    }

    private static func keySet(_ id: String, _ key: PublicKey) throws -> KeySet {
        let modulus = Base64.encode(try #require(key.rsaModulus), alphabet: .urlSafe)
        let exponent = Base64.encode(try #require(key.rsaExponent), alphabet: .urlSafe)
        let document: JSON = [
            "keys": [
                ["kty": "EC", "kid": .string(id)], ["kty": "RSA", "kid": "bad", "n": "!", "e": "AQAB"],
                ["kty": "RSA", "kid": .string(id), "n": .string(modulus), "e": .string(exponent)],
            ]
        ]
        return try KeySet(document.bytes)
    }

    @Test("id_token validation accepts HS256 by the client secret (MAG checklist 22)")
    func hs256() throws {
        let token = try token(claims())
        #expect(try Self.neededKey(token) == nil)
        #expect(try validation.validate(token, keys: nil) == Date(timeIntervalSince1970: 1_800_000_060))
    }

    @Test("id_token validation accepts RS256 by a published key (MAG checklist 22)")
    func rs256() throws {
        let token = try token(claims(), .RS256, key: .key(Self.key), keyID: "k1")
        #expect(try Self.neededKey(token) == "k1")
        _ = try validation.validate(token, keys: Self.keySet("k1", Self.key.publicKey))
    }

    @Test(
        "id_token validation accepts an aud array with the client, and exp as a string or this very second",
        arguments: [
            ["aud": JSON.array(["other", "c900"])], ["exp": "1800000060"], ["exp": 1_800_000_000],
        ])
    func lenient(changes: [String: JSON]) throws {
        _ = try validation.validate(try token(claims(changes)), keys: nil)
    }

    @Test(
        "id_token validation refuses claims for others, and an expired token",
        arguments: [
            (["aud": "other"], IDTokenFault.claimRefused("aud")), (["aud": nil], .claimRefused("aud")),
            (["aud": ["other"]], .claimRefused("aud")), (["aud": ["c900": "c900"]], .claimRefused("aud")),
            (["azp": "mag-2"], .claimRefused("azp")), (["azp": nil], .claimRefused("azp")),
            (["azp": ["mag-1"]], .claimRefused("azp")),
            (["exp": 1_799_999_999], .expired), (["exp": nil], .expired), (["exp": "soon"], .expired),
        ] as [([String: JSON?], IDTokenFault)])
    func claimsRefused(changes: [String: JSON?], fault: IDTokenFault) throws {
        let token = try token(claims(changes))
        #expect(throws: fault) { try validation.validate(token, keys: nil) }
    }

    @Test("id_token validation checks the audience even without a server's own rules")
    func withoutRules() throws {
        let plain = IDTokenValidation(
            client: ClientAuthentication(id: "c900", secret: Self.secret, expires: nil), now: now,
            algorithms: Self.algorithms)
        _ = try plain.validate(try token(claims(["azp": nil])), keys: nil)
        let token = try token(claims(["aud": "other"]))
        #expect(throws: IDTokenFault.claimRefused("aud")) { try plain.validate(token, keys: nil) }
    }

    @Test("id_token validation refuses another secret, another key, an unknown key, and a changed payload")
    func signatures() throws {
        let otherSecret = try token(claims(), key: .hmac(SecretBytes(utf8: "another secret 0123456789 0123456789")))
        #expect(throws: IDTokenFault.signatureInvalid) { try validation.validate(otherSecret, keys: nil) }

        let other = try PrivateKey(generating: .rsa(bits: 2048))
        let signed = try token(claims(), .RS256, key: .key(Self.key), keyID: "k1")
        #expect(throws: IDTokenFault.signatureInvalid) {
            try validation.validate(signed, keys: Self.keySet("k1", other.publicKey))
        }
        #expect(throws: IDTokenFault.signatureInvalid) {
            try validation.validate(signed, keys: Self.keySet("k2", Self.key.publicKey))
        }
        #expect(throws: IDTokenFault.signatureInvalid) { try validation.validate(signed, keys: nil) }

        var parts = try token(claims()).split(separator: ".").map(String.init)
        parts[1] = Base64.encode(claims(["exp": 1_900_000_000]).bytes, alphabet: .urlSafe)
        let changed = parts.joined(separator: ".")
        #expect(throws: IDTokenFault.signatureInvalid) { try validation.validate(changed, keys: nil) }
    }

    @Test("id_token validation without signatures takes any key's, and still checks every claim and the expiry")
    func withoutSignature() throws {
        var validation = validation
        validation.verifiesSignature = false
        let foreign = JWS.SigningKey.hmac(SecretBytes(utf8: "another secret 0123456789 0123456789"))
        _ = try validation.validate(try token(claims(), key: foreign), keys: nil)
        let others: [(String, JSON, IDTokenFault)] = [
            ("aud", "c901", .claimRefused("aud")), ("azp", "mag-2", .claimRefused("azp")),
            ("exp", 1_700_000_000, .expired),
        ]
        for (claim, value, fault) in others {
            let token = try token(claims([claim: value]), key: foreign)
            #expect(throws: fault) { try validation.validate(token, keys: nil) }
        }
    }

    @Test("id_token validation refuses other algorithms, also none")
    func algorithms() throws {
        let ec = try PrivateKey(generating: .p256)
        let es256 = try token(claims(), .ES256, key: .key(ec), keyID: "k1")
        let none =
            Base64.encode(Array(#"{"alg":"none"}"#.utf8), alphabet: .urlSafe) + "."
            + Base64.encode(claims().bytes, alphabet: .urlSafe) + "."
        for (token, name) in [(es256, "ES256"), (none, "none")] {
            #expect(throws: IDTokenFault.algorithmUnsupported(name)) { try Self.neededKey(token) }
            #expect(throws: IDTokenFault.algorithmUnsupported(name)) { try validation.validate(token, keys: nil) }
        }
    }

    @Test(
        "id_token validation refuses input that is not a signed token, and RS256 without a key id",
        arguments: ["", "a.b", "a.b.c", "....", "é.é.é"])
    func malformed(text: String) throws {
        #expect(throws: IDTokenFault.malformed) { try validation.validate(text, keys: nil) }
        let withoutKeyID = try token(claims(), .RS256, key: .key(Self.key))
        #expect(throws: IDTokenFault.malformed) { try Self.neededKey(withoutKeyID) }
        let noClaims = try token("text")
        #expect(throws: IDTokenFault.malformed) { try validation.validate(noClaims, keys: nil) }
    }
}
