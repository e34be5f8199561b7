@_spi(KeyBytes) import Cryptography
import Foundation
import Groundwork
import Testing

@Suite("Keys of cryptography")
struct KeyTests {
    @Test("keys survive PKCS#8", arguments: [PrivateKey.Algorithm.rsa(bits: 2048), .p256])
    func roundTrip(algorithm: PrivateKey.Algorithm) throws {
        let key = try PrivateKey(generating: algorithm)
        let copy = try PrivateKey(pkcs8: key.pkcs8())
        #expect(copy.publicKey == key.publicKey)
        #expect(try copy.pkcs8() == key.pkcs8())
        #expect(try PublicKey(spki: key.publicKey.spki) == key.publicKey)
        #expect(key.publicKey.spkiSHA256 == SHA256.hash(key.publicKey.spki))
    }

    @Test(
        "keys are read by the openssl command as what they are",
        arguments: [
            (PrivateKey.Algorithm.rsa(bits: 2048), "2048 bit"), (.p256, "prime256v1"),
        ])
    func interoperate(algorithm: PrivateKey.Algorithm, expected: String) throws {
        let key = try PrivateKey(generating: algorithm)
        let shown = try OpenSSLCommand.run(
            "pkey", "-inform", "DER", "-check", "-noout", "-text", input: key.pkcs8().exposed())
        #expect(shown.status == 0)
        #expect(shown.output.contains("Key is valid"))
        #expect(shown.output.contains(expected))
        let published = try OpenSSLCommand.run("pkey", "-inform", "DER", "-pubin", "-pubout", input: key.publicKey.spki)
        #expect(published.output.hasPrefix("-----BEGIN PUBLIC KEY-----"))
    }

    @Test(
        "keys that are weak or of another kind are refused",
        arguments: [
            ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"],
            ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-521"], ["-algorithm", "ED25519"],
            ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-pkeyopt", "ec_param_enc:explicit"],
        ])
    func unsuitable(options: [String]) throws {
        let folder = try TemporaryFolder()
        let (made, file) = (folder.path("key.pem"), folder.path("key.der"))
        try #require(try OpenSSLCommand.run(["genpkey", "-out", made] + options).status == 0)
        try #require(
            try OpenSSLCommand.run(
                "pkcs8", "-topk8", "-nocrypt", "-in", made, "-outform", "DER", "-out", file
            ).status == 0)
        #expect {
            try PrivateKey(pkcs8: SecretBytes(Data(contentsOf: URL(filePath: file))))
        } throws: { error in (error as? CryptographyError)?.code == "cryptography.unsuitable-key" }
    }

    @Test("keys of RSA are never made with fewer than 2048 bits", arguments: [-1, 0, 512, 1024, 2047, 1 << 20])
    func tooSmall(bits: Int) {
        #expect(throws: CryptographyError.unsuitableKey(reason: "RSA of \(bits) bits was requested")) {
            try PrivateKey(generating: .rsa(bits: bits))
        }
    }

    @Test("keys with bytes cut off, added or changed are refused")
    func damaged() throws {
        let key = try PrivateKey(generating: .p256)
        let der = try key.pkcs8().exposed()
        let (zeroes, tooLong) = ([UInt8](repeating: 0, count: 200), [UInt8](repeating: 0x30, count: 20_000))
        for wrong in [[], Array(der.dropLast()), der + [0], zeroes, tooLong] {
            #expect(throws: CryptographyError.self) { try PrivateKey(pkcs8: SecretBytes(wrong)) }
        }
        let spki = key.publicKey.spki
        for wrong in [[], Array(spki.dropLast()), spki + [0]] {
            #expect(throws: CryptographyError.self) { try PublicKey(spki: wrong) }
        }
    }

    @Test("keys of RSA are the same when made of their numbers, with leading zeros or without")
    func numbers() throws {
        let key = try PrivateKey(generating: .rsa(bits: 2048)).publicKey
        let (modulus, exponent) = (try #require(key.rsaModulus), try #require(key.rsaExponent))
        #expect(modulus.count == 256)
        #expect(exponent == [1, 0, 1])
        #expect(try PublicKey(rsaModulus: modulus, exponent: exponent) == key)
        #expect(try PublicKey(rsaModulus: [0] + modulus, exponent: exponent) == key)
        #expect(try PrivateKey(generating: .p256).publicKey.rsaModulus == nil)
    }

    @Test(
        "keys of RSA are refused when their numbers are small, even or huge",
        arguments: [
            (128, [1, 0, 1]), (0, [1, 0, 1]), (256, [1]), (256, [2]), (256, []), (5000, [1, 0, 1]),
            (256, [UInt8](repeating: 1, count: 300)),
        ] as [(Int, [UInt8])])
    func badNumbers(modulusBytes: Int, exponent: [UInt8]) {
        #expect(throws: CryptographyError.self) {
            try PublicKey(rsaModulus: [UInt8](repeating: 0xFF, count: modulusBytes), exponent: exponent)
        }
    }
}

@Suite("Public key pin (MAG 1.4, Q8)")
struct PublicKeyPinTests {
    private static let bytes: [UInt8] = (0..<32).map { 0xE0 | $0 }

    @Test(
        "a public key pin is read from hexadecimal, base 64 and base 64 for URLs, padded or not",
        arguments: [
            Hex.encode(bytes), Hex.encode(bytes).uppercased(), Base64.encode(bytes),
            Base64.encode(bytes, padded: false),
            Base64.encode(bytes, alphabet: .urlSafe), Base64.encode(bytes, alphabet: .urlSafe, padded: true),
        ])
    func encodings(text: String) {
        #expect(PublicKeyPin(text)?.sha256 == Self.bytes)
    }

    @Test(
        "a public key pin of any other form is refused",
        arguments: [
            "", "=", Hex.encode(bytes.dropLast()), Hex.encode(bytes + [0]), Base64.encode(bytes.dropLast()),
            Base64.encode(bytes + [0]), " " + Hex.encode(bytes), Base64.encode(bytes, alphabet: .urlSafe) + "%3D",
            "sha256/" + Base64.encode(bytes),
        ])
    func others(text: String) {
        #expect(PublicKeyPin(text) == nil)
    }

    @Test("the pin of a key is the SHA-256 of its SubjectPublicKeyInfo")
    func ofKey() throws {
        let key = try PrivateKey(generating: .p256).publicKey
        #expect(PublicKeyPin(of: key) == PublicKeyPin(Hex.encode(SHA256.hash(key.spki))))
    }
}
