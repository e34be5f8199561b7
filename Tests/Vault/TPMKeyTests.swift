import Foundation
import Groundwork
import TestSupport
import Testing

@testable import Cryptography
@testable import Vault

@Suite("Keys in a TPM")
struct TPMKeyTests {
    let software = try! SoftwareTPM()  // Without swtpm there is nothing to test.
    var keys: TPMKeys { TPMKeys(software.chip) }

    private static let hashes: [Digest] = [.sha256, .sha384, .sha512]

    private func digest(_ hash: Digest, _ scheme: UnsignedDigest.Scheme) -> UnsignedDigest {
        UnsignedDigest(hash.hash("message".utf8), by: hash, scheme)
    }

    @Test(
        "RSA keys in a TPM sign for OpenSSL with each hash, and with exactly the salt that it asks for",
        arguments: [TPMKeyHandle.Ways.all, .block])
    func rsa(ways: TPMKeyHandle.Ways) throws {
        let keys = TPMKeys(software.chip, allowed: ways)
        let key = try keys.make(.rsa(bits: 2048), name: "device")
        #expect(key.publicKey.rsaModulus?.count == 256)
        #expect(TPMKeyHandle(decoding: key.handle)?.ways == ways)
        let foreign = try PrivateKey(foreign: try keys.signer(of: key), publicKey: key.publicKey)
        for hash in Self.hashes {
            for saltBytes in [nil, hash.byteCount, 32, 0] {
                let signature = try MessageSignature.make(
                    Array("message".utf8), by: foreign.handle, hash, saltBytes: saltBytes)
                let digest = digest(hash, saltBytes.map { .pss(saltBytes: $0) } ?? .pkcs1)
                #expect(key.publicKey.verifies(signature, of: digest), "\(hash) \(saltBytes ?? -1)")
            }
        }
        let token = try JWS.sign(Array("{}".utf8), algorithm: .RS256, key: .key(foreign))
        try JWS.Token(compact: token).verify(with: .key(key.publicKey))
        let request = try CertificateRequest(subject: DistinguishedName([(.commonName, "board")]), key: foreign)
        #expect(try CertificateRequest(der: request.der).publicKey == key.publicKey)
    }

    @Test("RSA keys in a TPM that signs no blocks have the salts that the TPM makes, and no others")
    func chipsOwn() throws {
        let keys = TPMKeys(software.chip, allowed: .chip)
        let key = try keys.make(.rsa(bits: 2048), name: "device")
        let signer = try keys.signer(of: key)
        for hash in Self.hashes {
            for scheme in [UnsignedDigest.Scheme.pkcs1, .pss(saltBytes: hash.byteCount)] {
                let digest = digest(hash, scheme)
                #expect(key.publicKey.verifies(try signer.sign(digest), of: digest), "\(hash) \(scheme)")
            }
        }
        #expect(throws: ChipError.signatureUnsupported) { try signer.sign(digest(.sha256, .pss(saltBytes: 20))) }
    }

    @Test("RSA keys are refused, with the advice to use P-256, where a TPM signs in no way that fits")
    func unsuitable() throws {
        #expect(throws: VaultError.chip(.rsaUnsuitable)) {
            try TPMKeys(software.chip, allowed: []).make(.rsa(bits: 2048), name: "device")
        }
        #expect(ChipError.rsaUnsuitable.remedy?.contains("p256") == true)
    }

    @Test("RSA keys of more bits than a TPM has get the most it has, and weak ones are not made")
    func bits() throws {
        let key = try keys.make(.rsa(bits: 8192), name: "device")
        let bytes = try #require(key.publicKey.rsaModulus?.count)
        #expect((256..<1024).contains(bytes))
        let digest = digest(.sha256, .pss(saltBytes: 32))
        #expect(key.publicKey.verifies(try keys.signer(of: key).sign(digest), of: digest))
        #expect(throws: VaultError.self) { try keys.make(.rsa(bits: 1024), name: "device") }
    }

    @Test("P-256 keys in a TPM sign with each hash")
    func p256() throws {
        let key = try keys.make(.p256, name: "device")
        let signer = try keys.signer(of: key)
        let foreign = try PrivateKey(foreign: signer, publicKey: key.publicKey)
        for hash in Self.hashes {
            let signature = try MessageSignature.make(Array("message".utf8), by: foreign.handle, hash)
            #expect(key.publicKey.verifies(signature, of: digest(hash, .ecdsa)))
        }
        let token = try JWS.sign(Array("{}".utf8), algorithm: .ES256, key: .key(foreign))
        try JWS.Token(compact: token).verify(with: .key(key.publicKey))
        #expect(throws: ChipError.signatureUnsupported) { try signer.sign(self.digest(.sha256, .pkcs1)) }
        try keys.destroy(key, of: [])
        #expect(try !signer.sign(digest(.sha256, .ecdsa)).isEmpty)
    }

    @Test("keys in a TPM leave nothing loaded there, however often they sign")
    func repeated() throws {
        let key = try keys.make(.p256, name: "device")
        let signer = try keys.signer(of: key)
        for _ in 0..<50 { _ = try signer.sign(digest(.sha256, .ecdsa)) }
        // Nor after an error: the object is refused when the primary key and a session are there.
        var damaged = key.handle.exposed()
        let privateArea = try #require(TPMKeyHandle(decoding: key.handle)).object.privateArea
        let start = try #require(damaged.firstRange(of: privateArea)?.upperBound) - 1
        damaged[start] ^= 1
        let wrong = try keys.signer(of: KeptKey(publicKey: key.publicKey, handle: SecretBytes(damaged)))
        for _ in 0..<5 {
            #expect(throws: ChipError.otherChip) { try wrong.sign(digest(.sha256, .ecdsa)) }
        }
        #expect(try !signer.sign(digest(.sha256, .ecdsa)).isEmpty)
    }

    @Test("keys in a TPM sign for several threads at once")
    func threads() async throws {
        let key = try keys.make(.p256, name: "device")
        let signer = try keys.signer(of: key)
        let digest = digest(.sha256, .ecdsa)
        let valid = Counter()
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    try await Self.onThread {
                        for _ in 0..<5 where key.publicKey.verifies(try signer.sign(digest), of: digest) {
                            valid.next()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(valid.count == 40)
    }

    /// Signatures block, so they are no work for the cooperative pool.
    private static func onThread(_ work: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
        }
    }

    @Test("keys of another TPM, or of one that was cleared, are told apart from all other errors")
    func otherChip() throws {
        let key = try keys.make(.p256, name: "device")
        let digest = digest(.sha256, .ecdsa)
        let other = try SoftwareTPM()
        let signer = try TPMKeys(other.chip).signer(of: key)
        #expect(throws: ChipError.otherChip) { try signer.sign(digest) }
        // Also where the name of the primary key is the other chip's: the object itself is not.
        let handle = try #require(TPMKeyHandle(decoding: key.handle))
        let name = try other.chip.run { $0.primaryName }
        let renamed = try #require(
            TPMKeyHandle(
                object: handle.object, primaryName: name, ways: handle.ways, authorization: handle.authorization))
        #expect(throws: ChipError.otherChip) { try TPMSigner(chip: other.chip, handle: renamed).sign(digest) }
        #expect(!(try keys.signer(of: key).sign(digest)).isEmpty)
        try #require(try software.run("tpm2_clear", "-c", "p") == 0)
        #expect(throws: ChipError.otherChip) { try keys.signer(of: key).sign(digest) }
        #expect(!ChipError.otherChip.isTemporary)
    }

    @Test("keys in a TPM sign while it is locked out, and after many hard power-offs")
    func lockout() throws {
        let key = try keys.make(.p256, name: "device")
        let digest = digest(.sha256, .ecdsa)
        let signer = try keys.signer(of: key)
        for _ in 0..<5 {
            software.stop()
            try software.start()
            _ = try signer.sign(digest)
        }
        try #require(try software.run("tpm2_dictionarylockout", "-s", "-n", "1", "-t", "9999", "-l", "9999") == 0)
        try software.write("secret", to: "secret")
        try #require(try software.run("tpm2_createprimary", "-C", "o", "-c", "DIR/p.ctx") == 0)
        let parts = ["-u", "DIR/u", "-r", "DIR/r"]
        try #require(
            try software.run(
                "tpm2_create", "-C", "DIR/p.ctx", "-i", "DIR/secret", "-p", "right", parts[0], parts[1],
                parts[2], parts[3]) == 0)
        try software.run("tpm2_flushcontext", "-t")
        try #require(
            try software.run("tpm2_load", "-C", "DIR/p.ctx", "-c", "DIR/k.ctx", parts[0], parts[1], parts[2], parts[3])
                == 0)
        try software.run("tpm2_flushcontext", "-t")
        try #require(try software.run("tpm2_unseal", "-c", "DIR/k.ctx", "-p", "right") == 0)
        try software.run("tpm2_flushcontext", "-t")
        #expect(try software.run("tpm2_unseal", "-c", "DIR/k.ctx", "-p", "wrong") != 0)
        try software.run("tpm2_flushcontext", "-t")
        // The right value is refused now: it is locked out.
        #expect(try software.run("tpm2_unseal", "-c", "DIR/k.ctx", "-p", "right") != 0)
        try software.run("tpm2_flushcontext", "-t")
        #expect(key.publicKey.verifies(try signer.sign(digest), of: digest))
        #expect(try !keys.make(.p256, name: "other").handle.exposed().isEmpty)
    }

    @Test("handles of keys in a TPM are refused when truncated, prolonged or changed in what is not encrypted")
    func hostile() throws {
        let key = try keys.make(.rsa(bits: 2048), name: "device")
        let bytes = key.handle.exposed()
        #expect(bytes.count <= 4096)
        #expect(TPMKeyHandle(decoding: key.handle)?.encoded() == key.handle)
        for count in 0..<bytes.count { #expect(TPMKeyHandle(decoding: SecretBytes(bytes.prefix(count))) == nil) }
        #expect(TPMKeyHandle(decoding: SecretBytes(bytes + [0])) == nil)
        #expect(TPMKeyHandle(decoding: SecretBytes([UInt8](repeating: 0, count: 5000))) == nil)
        var decoded = 0
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x80
            // A changed modulus, name or private part is for the chip to refuse; nothing is read that was not written.
            guard let handle = TPMKeyHandle(decoding: SecretBytes(changed)) else { continue }
            #expect(handle.encoded() == SecretBytes(changed))
            decoded += 1
        }
        #expect((500..<bytes.count - 60).contains(decoded))
        let other = try keys.make(.p256, name: "other")
        #expect(throws: VaultError.chip(.handleDamaged)) {
            try keys.signer(of: KeptKey(publicKey: other.publicKey, handle: key.handle))
        }
    }
}
