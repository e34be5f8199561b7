import COpenSSL
import Foundation
import Groundwork
import TestSupport
import Testing

@testable @_spi(KeyBytes) import Cryptography

/// Keys as in a chip, with an ordinary key in its place (``SoftwareKey``).
@Suite("A foreign key")
struct ForeignKeyTests {
    private static let algorithms: [PrivateKey.Algorithm] = [.rsa(bits: 2048), .p256]
    private static let absent = CryptographyError.foreignKey(SoftwareKey.Absent.examples[0].explanation)

    @Test(
        "a foreign key signs certificate requests that openssl verifies",
        arguments: [(PrivateKey.Algorithm.rsa(bits: 2048), "sha256WithRSAEncryption"), (.p256, "ecdsa-with-SHA256")])
    func request(algorithm: PrivateKey.Algorithm, signature: String) throws {
        let key = try PrivateKey(generating: algorithm).elsewhere()
        let request = try CertificateRequest(subject: DistinguishedName([(.commonName, "board")]), key: key)
        let shown = try OpenSSLCommand.run("req", "-inform", "DER", "-verify", "-noout", "-text", input: request.der)
        #expect(shown.status == 0)
        #expect(shown.output.contains("verify OK"))
        #expect(shown.output.contains(signature))
        #expect(try CertificateRequest(der: request.der).publicKey == key.publicKey)
        // As an ordinary key has it: of RSA with NULL, of ECDSA without parameters.
        let layout = try OpenSSLCommand.run("asn1parse", "-inform", "DER", input: request.der).output
        let lines = layout.split(separator: "\n")
        let position = try #require(lines.firstIndex { $0.lowercased().contains(signature.lowercased()) })
        #expect(lines[position + 1].contains("NULL") == (algorithm != .p256))
    }

    @Test("a foreign key issues certificates that verify", arguments: algorithms)
    func certificate(algorithm: PrivateKey.Algorithm) throws {
        let key = try PrivateKey(generating: algorithm).elsewhere()
        let root = try TestAuthority.template("root", isCA: true).issue(for: key.publicKey, by: nil, signedWith: key)
        #expect(X509_verify(root.handle, key.publicKey.handle) == 1)
    }

    @Test(
        "a foreign key signs JSON Web Signatures that verify, and gets only the digest",
        arguments: [(PrivateKey.Algorithm.rsa(bits: 2048), UnsignedDigest.Scheme.pkcs1), (.p256, .ecdsa)])
    func token(algorithm: PrivateKey.Algorithm, scheme: UnsignedDigest.Scheme) throws {
        let real = try PrivateKey(generating: algorithm)
        let software = try SoftwareKey(real)
        let key = try PrivateKey(foreign: software, publicKey: real.publicKey)
        let name = try #require(JWS.algorithm(of: key))
        let token = try JWS.sign(Array("{}".utf8), algorithm: name, key: .key(key))
        try JWS.Token(compact: token).verify(with: .key(real.publicKey))
        let input = token.utf8.prefix(token.utf8.count - (token.split(separator: ".").last?.utf8.count ?? 0) - 1)
        #expect(software.asked == [UnsignedDigest(SHA256.hash(input), by: .sha256, scheme)])
    }

    @Test("a foreign key has the size, the group and the public half of its own, and gives no private half away")
    func properties() throws {
        for algorithm in Self.algorithms {
            let real = try PrivateKey(generating: algorithm)
            let key = try real.elsewhere()
            #expect(key.publicKey == real.publicKey)
            #expect(KeyKind(of: key.handle) == KeyKind(of: real.handle))
            #expect(EVP_PKEY_get_bits(key.handle) == EVP_PKEY_get_bits(real.handle))
            #expect(EVP_PKEY_get_security_bits(key.handle) == EVP_PKEY_get_security_bits(real.handle))
            #expect(EVP_PKEY_get_size(key.handle) == EVP_PKEY_get_size(real.handle))
            for (one, other) in [(key, real), (real, key)] { #expect(EVP_PKEY_eq(one.handle, other.handle) == 1) }
            #expect(EVP_PKEY_eq(key.handle, try PrivateKey(generating: algorithm).handle) != 1)
            let take: @convention(c) (UnsafePointer<OSSL_PARAM>?, UnsafeMutableRawPointer?) -> Int32 = { _, _ in 1 }
            let (half, private_) = (latchkey_public_key_parts, OSSL_KEYMGMT_SELECT_PRIVATE_KEY)
            #expect(EVP_PKEY_export(key.handle, half, take, nil) == 1)
            for selection in [private_, half | private_] {
                #expect(EVP_PKEY_export(key.handle, selection, take, nil) == 0)
            }
            ERR_clear_error()
            #expect(throws: CryptographyError.self) { try key.pkcs8() }
        }
    }

    @Test("a foreign key is refused if it is weak or of another kind")
    func unsuitable() throws {
        let real = try PrivateKey(generating: .p256)
        for options in [
            ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"],
            ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"], ["-algorithm", "ED25519"],
        ] {
            let folder = try TemporaryFolder()
            try OpenSSLCommand.run(["genpkey", "-out", folder.path("key.pem")] + options)
            try OpenSSLCommand.run(
                "pkey", "-in", folder.path("key.pem"), "-pubout", "-outform", "DER", "-out", folder.path("key.der"))
            let other = try PublicKey(spki: Array(Data(contentsOf: URL(filePath: folder.path("key.der")))))
            #expect {
                try PrivateKey(foreign: SoftwareKey(real), publicKey: other)
            } throws: { ($0 as? CryptographyError)?.code == "cryptography.unsuitable-key" }
        }
    }

    @Test("a foreign key that fails, or signs wrongly, is an error that names the cause", arguments: algorithms)
    func faults(algorithm: PrivateKey.Algorithm) throws {
        let real = try PrivateKey(generating: algorithm)
        let invalid = CryptographyError.foreignKey(
            CryptographyError.signatureInvalid(.privateKey).explanation)
        for fault in SoftwareKey.Fault.allCases {
            let key = try real.elsewhere(fault)
            let name = try #require(JWS.algorithm(of: key))
            let expected = fault == .absent ? Self.absent : invalid
            #expect(throws: expected) { try JWS.sign([], algorithm: name, key: .key(key)) }
            #expect(throws: expected) {
                try CertificateRequest(subject: DistinguishedName([(.commonName, "board")]), key: key)
            }
            #expect(ERR_peek_error() == 0)
        }
        #expect(Self.absent.explanation.kind == .temporary)
        #expect(Self.absent.explanation.cause == "test.absent")
        #expect(Self.absent.message == "cannot sign: the token is not there")
        #expect(Self.absent.remedy == "put it in")
    }

    @Test("a foreign key with another key's public half signs nothing")
    func otherPublicHalf() throws {
        let (one, other) = (try PrivateKey(generating: .p256), try PrivateKey(generating: .p256))
        let key = try PrivateKey(foreign: SoftwareKey(one), publicKey: other.publicKey)
        #expect(throws: CryptographyError.self) { try JWS.sign([], algorithm: .ES256, key: .key(key)) }
    }

    @Test("a foreign key signs for four threads at once", arguments: algorithms)
    func threads(algorithm: PrivateKey.Algorithm) async throws {
        let real = try PrivateKey(generating: algorithm)
        let software = try SoftwareKey(real)
        let key = try PrivateKey(foreign: software, publicKey: real.publicKey)
        let valid = try await withThrowingTaskGroup(of: Int.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    try (0..<200).count { number in
                        let message = Array("\(thread) \(number)".utf8)
                        return try real.publicKey.verifies(key.signature(of: message), of: message)
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(valid == 800)
        #expect(software.asked.count == 800)
    }

    @Test("a foreign key is let go with the last that signs with it, also after it failed")
    func lifetime() throws {
        for fault in [nil, SoftwareKey.Fault.absent] {
            weak var kept: SoftwareKey?
            do {
                let real = try PrivateKey(generating: .p256)
                let software = try SoftwareKey(real, fault: fault)
                kept = software
                let key = try PrivateKey(foreign: software, publicKey: real.publicKey)
                _ = try? key.signature(of: [1])
                let context = try #require(EVP_MD_CTX_new())
                defer { EVP_MD_CTX_free(context) }
                #expect(EVP_DigestSignInit_ex(context, nil, "SHA256", nil, nil, key.handle, nil) == 1)
                let copy = try #require(EVP_MD_CTX_new())
                defer { EVP_MD_CTX_free(copy) }
                #expect(EVP_MD_CTX_copy_ex(copy, context) == 1)
            }
            #expect(kept == nil)
        }
    }
}
