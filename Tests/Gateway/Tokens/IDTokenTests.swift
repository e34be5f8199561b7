import Cryptography
import Foundation
import Groundwork
import OAuth
import Testing

@testable import Gateway

@Suite("id_token of a gateway")
struct IDTokenTests {
    private let client = ClientCredentials(
        masterID: "5c0e",
        authentication: ClientAuthentication(
            id: "c900", secret: SecretBytes(utf8: "a client secret of good length 0123456789"), expires: nil),
        isStatic: false)

    private func validate(_ changes: [String: JSON?]) throws -> Date {
        var claims: [String: JSON] = [
            "aud": "c900", "azp": "mag-1", "exp": 1_800_000_060, "sub": "x", "iss": "http://gw/connect",
        ]
        for (name, value) in changes { claims[name] = value }
        let token = try JWS.sign(
            JSON.object(claims).bytes, algorithm: .HS256, key: .hmac(client.authentication.secret), keyID: nil)
        let validation = IDTokenValidation(
            client: client, magIdentifier: "mag-1", now: Date(timeIntervalSince1970: 1_800_000_000))
        do {
            return try validation.validate(token, keys: nil)
        } catch {
            throw GatewayError(error)
        }
    }

    @Test("an id_token of a gateway is refused with a signature that gateways do not use (MAG 5.5)")
    func otherAlgorithm() throws {
        let key = try PrivateKey(generating: .p256)
        let keys = try KeySet(
            JSON.object(["keys": [JSONWebKey.json(of: key.publicKey, id: "k", algorithm: .ES256)]]).bytes)
        let claims: JSON = ["aud": "c900", "azp": "mag-1", "exp": 1_800_000_060]
        let token = try JWS.sign(claims.bytes, algorithm: .ES256, key: .key(key), keyID: "k")
        let validation = IDTokenValidation(
            client: client, magIdentifier: "mag-1", now: Date(timeIntervalSince1970: 1_800_000_000))
        #expect(throws: IDTokenFault.algorithmUnsupported("ES256")) { try validation.validate(token, keys: keys) }
    }

    @Test("an id_token of a gateway is for this client and this device (MAG checklist 22)")
    func accepted() throws { #expect(try validate([:]) == Date(timeIntervalSince1970: 1_800_000_060)) }

    @Test(
        "an id_token of a gateway is refused with claims of others, and when it has ended",
        arguments: [
            (["aud": "other"], GatewayError.idTokenForOtherClient, 130_103),
            (["aud": nil], .idTokenForOtherClient, 130_103),
            (["aud": ["other"]], .idTokenForOtherClient, 130_103), (["azp": "mag-2"], .idTokenForOtherDevice, 130_104),
            (["azp": nil], .idTokenForOtherDevice, 130_104), (["exp": 1_799_999_999], .idTokenExpired, 130_102),
            (["exp": nil], .idTokenExpired, 130_102), (["exp": "soon"], .idTokenExpired, 130_102),
        ] as [([String: JSON?], GatewayError, Int)])
    func claimsRefused(changes: [String: JSON?], error: GatewayError, code: Int) throws {
        #expect(throws: error) { try validate(changes) }
        #expect(error.localCode == code)
    }

    @Test(
        "each fault of a gateway's id_token has an error of its own",
        arguments: [
            (IDTokenFault.malformed, GatewayError.idTokenMalformed, 130_101),
            (.signatureInvalid, .idTokenSignatureInvalid, 130_105),
            (.algorithmUnsupported("none"), .idTokenAlgorithmUnsupported, 130_106),
        ])
    func faults(fault: IDTokenFault, error: GatewayError, code: Int) {
        #expect(GatewayError(fault) == error)
        #expect(error.localCode == code)
    }
}
