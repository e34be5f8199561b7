import Groundwork
import Testing

@testable import Cryptography

@Suite("JSON Web Signature")
struct JWSTests {
    private static let payload =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb2"
        + "90Ijp0cnVlfQ"
    private static let secret = SecretBytes(
        url(
            "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"))
    private static let rsaToken =
        "eyJhbGciOiJSUzI1NiJ9." + payload
        + ".cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdb"
        + "F9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOL"
        + "n6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrB"
        + "p0igcN_IoypGlUPQGe77Rw"
    private static let ecToken =
        "eyJhbGciOiJFUzI1NiJ9." + payload
        + ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    private static let hmacToken =
        "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." + payload
        + ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

    private static func url(_ text: String) -> [UInt8] { Base64.decode(text, alphabet: .urlSafe)! }

    private static func rsaKey() throws -> PublicKey {
        try PublicKey(
            rsaModulus: url(
                "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SF"
                    + "d2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo"
                    + "7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkM"
                    + "Ls91kzk2PAcDTW9gb54h4FRWyuXpoQ"), exponent: [1, 0, 1])
    }

    private static func ecKey() throws -> PublicKey {
        try PublicKey(
            spki: Hex.decode("3059301306072a8648ce3d020106082a8648ce3d03010703420004")!
                + url("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")
                + url("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))
    }

    @Test("a JWS verifies the tokens of RFC 7515 appendices A.1, A.2 and A.3")
    func vectors() throws {
        try JWS.Token(compact: Self.hmacToken).verify(with: .hmac(Self.secret))
        try JWS.Token(compact: Self.rsaToken).verify(with: .key(try Self.rsaKey()))
        try JWS.Token(compact: Self.ecToken).verify(with: .key(try Self.ecKey()))
        #expect(try JSON(parsing: JWS.Token(compact: Self.ecToken).payload)["iss"] == "joe")
    }

    @Test("a JWS whose payload, header or signature was changed is refused", arguments: [hmacToken, rsaToken, ecToken])
    func changed(token: String) throws {
        let segments = token.split(separator: ".").map(String.init)
        var signature = Self.url(segments[2])
        signature[0] ^= 1
        let other = Base64.encode(Array(#"{"iss":"eve"}"#.utf8), alphabet: .urlSafe)
        for changed in [
            "\(segments[0]).\(other).\(segments[2])",
            "\(segments[0]).\(segments[1]).\(Base64.encode(signature, alphabet: .urlSafe))",
            "\(segments[0]).\(segments[1]).",
        ] {
            #expect(throws: CryptographyError.signatureInvalid(.token)) { try Self.verify(changed) }
        }
    }

    private static func verify(_ compact: String) throws {
        let token = try JWS.Token(compact: compact)
        switch token.algorithm {
        case .HS256: try token.verify(with: .hmac(secret))
        case .RS256: try token.verify(with: .key(rsaKey()))
        default: try token.verify(with: .key(ecKey()))
        }
    }

    @Test("a signed JWS verifies, with key identifier and further header members")
    func roundTrip() throws {
        let keys: [(JWS.Algorithm, JWS.SigningKey, JWS.VerificationKey)] = try {
            let rsa = try PrivateKey(generating: .rsa(bits: 2048))
            let ec = try PrivateKey(generating: .p256)
            return [
                (.RS256, .key(rsa), .key(rsa.publicKey)), (.ES256, .key(ec), .key(ec.publicKey)),
                (.HS256, .hmac(Self.secret), .hmac(Self.secret)),
            ]
        }()
        for (algorithm, signingKey, verificationKey) in keys {
            let compact = try JWS.sign(
                Array("hello".utf8), algorithm: algorithm, key: signingKey, keyID: "k1", headers: ["typ": "JWT"])
            let token = try JWS.Token(compact: compact)
            try token.verify(with: verificationKey)
            #expect(token.payload == Array("hello".utf8))
            #expect(token.keyID == "k1")
            #expect(token.header["typ"] == "JWT")
            #expect(token.algorithm == algorithm)
        }
    }

    @Test("a JWS has ES256 signatures as r and s of 32 bytes each")
    func rawSignature() throws {
        let key = try PrivateKey(generating: .p256)
        for _ in 0..<64 {
            let compact = try JWS.sign([1], algorithm: .ES256, key: .key(key))
            #expect(Self.url(String(compact.split(separator: ".")[2])).count == 64)
        }
    }

    @Test("a JWS with an ES256 signature of another length is refused, the DER form among them")
    func derSignature() throws {
        let key = try PrivateKey(generating: .p256)
        let message = "eyJhbGciOiJFUzI1NiJ9.AA"
        let der = try key.signature(of: Array(message.utf8))
        let raw = try RawECDSA.fromDER(der)
        try JWS.Token(compact: message + "." + Base64.encode(raw, alphabet: .urlSafe)).verify(with: .key(key.publicKey))
        for wrong in [der, raw + [0], Array(raw.dropLast()), [0] + raw, raw.prefix(32) + [0] + raw.suffix(32)] {
            let token = try JWS.Token(compact: message + "." + Base64.encode(wrong, alphabet: .urlSafe))
            #expect(throws: CryptographyError.signatureInvalid(.token)) { try token.verify(with: .key(key.publicKey)) }
        }
    }

    @Test("the key decides the algorithm of a JWS")
    func keyConfusion() throws {
        let rsa = try Self.rsaKey()
        // The classic: the public key's bytes as HMAC secret of a token that says HS256.
        let forged = try JWS.sign([1], algorithm: .HS256, key: .hmac(SecretBytes(rsa.spki)))
        #expect(throws: CryptographyError.algorithmRefused("HS256")) {
            try JWS.Token(compact: forged).verify(with: .key(rsa))
        }
        #expect(throws: CryptographyError.algorithmRefused("RS256")) {
            try JWS.Token(compact: Self.rsaToken).verify(with: .hmac(Self.secret))
        }
        #expect(throws: CryptographyError.algorithmRefused("RS256")) {
            try JWS.Token(compact: Self.rsaToken).verify(with: .key(Self.ecKey()))
        }
        #expect(throws: CryptographyError.algorithmRefused("HS256")) {
            try JWS.Token(compact: Self.hmacToken).verify(with: .hmac(SecretBytes([UInt8]())))
        }
        #expect(throws: CryptographyError.algorithmRefused("ES256")) {
            try JWS.sign([1], algorithm: .ES256, key: .key(PrivateKey(generating: .rsa(bits: 2048))))
        }
    }

    @Test(
        "a JWS whose header is not understood in full is refused",
        arguments: [
            #"{"alg":"none"}"#, #"{"alg":"None"}"#, #"{"alg":"ES256K"}"#, #"{"alg":"hs256"}"#, #"{"alg":null}"#,
            #"{"alg":["HS256"]}"#,
            "{}", "[]", "null", #""HS256""#, "", #"{"alg":"HS256""#,
            #"{"alg":"HS256","crit":["exp"]}"#, #"{"alg":"HS256","crit":[]}"#, #"{"alg":"HS256","crit":null}"#,
            #"{"alg":"HS256","crit":["b64"],"b64":false}"#,
            #"{"alg":"HS256","alg":"RS256"}"#, #"{"alg":"HS256","\u0061lg":"HS256"}"#,
            #"{"kid":"a","alg":"HS256","kid":"a"}"#,
            #"{"alg":"HS256","kid":7}"#,
        ])
    func header(header: String) {
        let compact = Base64.encode(Array(header.utf8), alphabet: .urlSafe) + ".AA.AA"
        #expect(throws: CryptographyError.self) { try JWS.Token(compact: compact) }
    }

    @Test("a JWS may have equal names inside a header member")
    func nestedNames() throws {
        let header = #"{"alg":"HS256","jwk":{"alg":"x","note":"a:b \" {\"alg\":1}"},"x":[{"alg":1}]}"#
        let token = try JWS.Token(compact: Base64.encode(Array(header.utf8), alphabet: .urlSafe) + ".AA.AA")
        #expect(token.algorithm == .HS256)
    }

    @Test(
        "a JWS of any form but three canonical segments is refused",
        arguments: [
            "", ".", "..", "eyJhbGciOiJIUzI1NiJ9", "eyJhbGciOiJIUzI1NiJ9.AA", "eyJhbGciOiJIUzI1NiJ9.AA.AA.AA",
            "eyJhbGciOiJIUzI1NiJ9.AA.AA.", "eyJhbGciOiJIUzI1NiJ9.AA==.AA", "eyJhbGciOiJIUzI1NiJ9.AA.AB",
            "eyJhbGciOiJIUzI1NiJ9.A A.AA", "eyJhbGciOiJIUzI1NiJ9.A+.AA", "eyJhbGciOiJIUzI1NiJ9.AA.AA\n",
            " eyJhbGciOiJIUzI1NiJ9.AA.AA", "eyJhbGciOiJIUzI1NiJ9.ä.AA",
        ])
    func shape(compact: String) {
        #expect(throws: CryptographyError.self) { try JWS.Token(compact: compact) }
    }

    @Test("a JWS of more than 16 KiB is refused")
    func size() {
        let compact = "eyJhbGciOiJIUzI1NiJ9." + String(repeating: "A", count: 16 << 10) + ".AA"
        #expect(throws: CryptographyError.tooLong(.token, count: compact.utf8.count, limit: JWS.limit)) {
            try JWS.Token(compact: compact)
        }
    }

    @Test(
        "a caller cannot set the header members that decide a JWS' signature",
        arguments: ["alg", "kid", "crit", "b64"])
    func reserved(name: String) {
        #expect(throws: CryptographyError.self) {
            try JWS.sign([1], algorithm: .HS256, key: .hmac(Self.secret), headers: [name: "none"])
        }
    }
}
