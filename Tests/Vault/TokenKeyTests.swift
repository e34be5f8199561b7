import Cryptography
import Foundation
import Groundwork
import TestSupport
import Testing

@testable import Vault

extension SoftwareTokenTests {
    @Suite("Keys on a PKCS#11 token")
    struct TokenKeyTests {
        private static let device = PrivateKey.Algorithm.rsa(bits: 2048)

        private func verifies(_ key: KeptKey, _ keys: VaultsKeys, _ digest: UnsignedDigest) throws -> Bool {
            key.publicKey.verifies(try keys.signer(of: key).sign(digest), of: digest)
        }

        @Test(
            "keys on a token of RSA sign by PKCS#1 and PSS with each hash, and a salt of 32 bytes whatever the hash is")
        func rsa() throws {
            let keys = try SoftwareToken().keys()
            let key = try keys.make(Self.device, name: "device")
            #expect(key.publicKey.rsaModulus?.count == 256 && key.handle.count <= 4096)
            for hash in [Digest.sha256, .sha384, .sha512] {
                let digest = hash.hash("message".utf8)
                for scheme in [UnsignedDigest.Scheme.pkcs1, .pss(saltBytes: 32), .pss(saltBytes: digest.count)] {
                    #expect(try verifies(key, keys, UnsignedDigest(digest, by: hash, scheme)), "\(hash) \(scheme)")
                }
            }
        }

        @Test("keys on a token of P-256 sign with each hash")
        func p256() throws {
            let keys = try SoftwareToken().keys()
            let key = try keys.make(.p256, name: "device")
            #expect(key.publicKey.p256Point?.count == 65)
            for hash in [Digest.sha256, .sha384, .sha512] {
                #expect(try verifies(key, keys, UnsignedDigest(hash.hash("message".utf8), by: hash, .ecdsa)), "\(hash)")
            }
        }

        @Test(
            "keys on a token are used as any private key, also by a program that starts later",
            arguments: [device, .p256])
        func asPrivateKey(algorithm: PrivateKey.Algorithm) throws {
            let token = try SoftwareToken()
            let made = try token.keys().make(algorithm, name: "device")
            let kept = KeptKey(publicKey: try PublicKey(spki: made.publicKey.spki), handle: made.handle)
            let key = try PrivateKey(foreign: try token.keys().signer(of: kept), publicKey: kept.publicKey)
            let name = try #require(JWS.algorithm(of: key))
            let text = try JWS.sign(Array("{}".utf8), algorithm: name, key: .key(key))
            let parts = text.split(separator: ".").map(String.init)
            let signature = try #require(Base64.decode(parts[2], alphabet: .urlSafe))
            let message = Array("\(parts[0]).\(parts[1])".utf8)
            let der = algorithm == .p256 ? try RawECDSA.toDER(signature) : signature
            #expect(try made.publicKey.verifies(der, of: message))
        }

        @Test("keys on a token make a signature in DER also where r or s is short")
        func shortNumbers() throws {
            let keys = try SoftwareToken().keys()
            let key = try keys.make(.p256, name: "device")
            let signer = try keys.signer(of: key)
            // Both numbers in full have 70 bytes at least; one in 128 signatures has a shorter one.
            for number in 0..<4000 {
                let digest = UnsignedDigest(Digest.sha256.hash("\(number)".utf8), by: .sha256, .ecdsa)
                let signature = try signer.sign(digest)
                guard signature.count < 70 else { continue }
                #expect(key.publicKey.verifies(signature, of: digest))
                return
            }
            Issue.record("no number was short")
        }

        @Test("keys on a token never leave it, as programs of others say", arguments: [device, .p256])
        func neverExtractable(algorithm: PrivateKey.Algorithm) throws {
            let token = try SoftwareToken()
            _ = try token.keys().make(algorithm, name: "device")
            let listed = try token.tool("--list-objects", "--type", "privkey")
            #expect(listed.contains("latchkey \(String(repeating: "a5", count: 16)) device"))
            #expect(listed.contains("Access:     sensitive, always sensitive, never extractable, local"))
            #expect(listed.contains("Usage:      sign\n"))
            let script = """
                import PyKCS11 as p
                lib = p.PyKCS11Lib(); lib.load('\(SoftHSM.library)')
                slot = [s for s in lib.getSlotList(True) if lib.getTokenInfo(s).label.strip() == '\(token.label)'][0]
                session = lib.openSession(slot); session.login('\(SoftHSM.pin)')
                key, = session.findObjects([(p.CKA_CLASS, p.CKO_PRIVATE_KEY)])
                print(session.getAttributeValue(key, [p.CKA_TOKEN, p.CKA_PRIVATE, p.CKA_SENSITIVE, p.CKA_EXTRACTABLE,
                    p.CKA_NEVER_EXTRACTABLE, p.CKA_LOCAL, p.CKA_SIGN, p.CKA_DECRYPT, p.CKA_UNWRAP]))
                for secret in [p.CKA_PRIVATE_EXPONENT, p.CKA_PRIME_1, p.CKA_VALUE]:
                    try: print(session.getAttributeValue(key, [secret], True)[0])
                    except p.PyKCS11Error as error: print(error)
                session.logout()
                """
            let lines = try SoftHSM.shared.run(["/usr/bin/python3", "-c", script]).split(separator: "\n")
            #expect(lines.first == "[True, True, True, False, True, True, True, False, False]")
            #expect(lines.count == 4)
            for line in lines.dropFirst() {
                #expect(
                    line.contains("CKR_ATTRIBUTE_SENSITIVE") || line.contains("CKR_ATTRIBUTE_TYPE_INVALID")
                        || line == "None")
            }
        }

        @Test("keys on a token are removed with nothing else, and once more without an error")
        func destroyed() throws {
            let token = try SoftwareToken()
            let keys = token.keys()
            let (first, second) = (try keys.make(.p256, name: "first"), try keys.make(.p256, name: "second"))
            // Another vault's program does not remove it.
            try token.keys(vaultID: [UInt8](repeating: 1, count: 16)).destroy(first)
            let digest = UnsignedDigest(Digest.sha256.hash([]), by: .sha256, .ecdsa)
            #expect(try verifies(first, keys, digest))
            try keys.destroy(first)
            try keys.destroy(first)
            let listed = try token.tool("--list-objects")
            #expect(!listed.contains("first") && listed.components(separatedBy: " second").count == 3)
            #expect(throws: VaultError.token(.noKey(name: "latchkey \(String(repeating: "a5", count: 16)) first"))) {
                try keys.signer(of: first).sign(digest)
            }
            #expect(try verifies(second, keys, digest))
        }

        @Test("keys on a token that no record refers to are found by this vault's label alone")
        func orphans() throws {
            let token = try SoftwareToken()
            try token.make("mine", "EC:prime256v1")
            let keys = token.keys()
            let other = try token.keys(vaultID: [UInt8](repeating: 1, count: 16)).make(.p256, name: "device")
            let (kept, lost) = (try keys.make(.p256, name: "kept"), try keys.make(.p256, name: "lost"))
            #expect(try keys.orphans(known: [kept]) == [lost])
            for orphan in try keys.orphans(known: [kept]) { try keys.destroy(orphan) }
            #expect(try keys.orphans(known: [kept]) == [])
            #expect(try keys.orphans(known: []) == [kept])
            #expect(try token.keys(vaultID: [UInt8](repeating: 1, count: 16)).orphans(known: []) == [other])
            #expect(try token.tool("--list-objects", "--type", "privkey").contains("mine"))
        }

        @Test("keys on a token that are there already are taken by URI, and stay when their record goes")
        func adopted() throws {
            let token = try SoftwareToken()
            try token.make("mine", "RSA:2048")
            let keys = token.keys()
            let key = try keys.adopt(token.named("mine"))
            let digest = UnsignedDigest(Digest.sha256.hash([]), by: .sha256, .pss(saltBytes: 32))
            #expect(try verifies(key, keys, digest))
            try keys.destroy(key)
            #expect(try verifies(key, keys, digest))
            #expect(throws: VaultError.token(.noKey(name: token.named("other").description))) {
                try keys.adopt(token.named("other"))
            }
            try token.tool("--keypairgen", "--key-type", "EC:prime256v1", "--label", "mine", "--id", "02")
            #expect(throws: VaultError.token(.severalKeys(name: token.named("mine").description, count: 2))) {
                try keys.adopt(token.named("mine"))
            }
        }

        @Test("keys on a token that are there already and could leave, or are of another kind, are refused")
        func unsuitable() throws {
            let token = try SoftwareToken()
            try token.make("open", "RSA:2048", "--extractable")
            try token.make("weak", "RSA:1024")
            try token.make("other", "EC:secp384r1")
            let keys = token.keys()
            #expect(throws: VaultError.token(.keyExtractable(name: token.named("open").description))) {
                try keys.adopt(token.named("open"))
            }
            for name in ["weak", "other"] {
                let error = #expect(throws: VaultError.self) { try keys.adopt(token.named(name)) }
                #expect(error?.explanation.code == "vault.token-key-unsuitable")
            }
            #expect(throws: VaultError.cryptography(.unsuitableKey(reason: "RSA of 1024 bits was requested"))) {
                try keys.make(.rsa(bits: 1024), name: "device")
            }
        }

        @Test("keys on a token are looked for on one token: two that fit are refused, none is for now")
        func ambiguous() throws {
            let one = try SoftwareToken()
            func token(_ label: String) -> Token {
                var uri = TokenURI()
                uri.token = label
                return Token(uri, module: SoftHSM.shared.module, memory: PINMemory(path: one.memoryPath)) {
                    one.offered.give()
                }
            }
            #expect(throws: VaultError.token(.severalTokens(uri: "pkcs11:token=twin", count: 2))) {
                try VaultsKeys(keys: TokenKeys(token("twin")), vaultID: SoftwareToken.vaultID).make(
                    .p256, name: "device")
            }
            #expect(throws: VaultError.token(.noToken(uri: "pkcs11:token=none"))) { try token("none").describe() }
            #expect(VaultError.token(.noToken(uri: "")).explanation.kind == .temporary)
            #expect(one.offered.asked.count == 0)
        }

        @Test("keys on a token sign for eight threads at once")
        func threads() async throws {
            let keys = try SoftwareToken().keys()
            let key = try keys.make(.p256, name: "device")
            let signer = try keys.signer(of: key)
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for thread in 0..<8 {
                    group.addTask {
                        try (0..<20).allSatisfy { number in
                            let digest = UnsignedDigest(
                                Digest.sha256.hash([UInt8(thread), UInt8(number)]), by: .sha256, .ecdsa)
                            return key.publicKey.verifies(try signer.sign(digest), of: digest)
                        }
                    }
                }
                for try await isValid in group { #expect(isValid) }
            }
        }

        @Test("keys on a token are not looked for with a handle that was cut or has more bytes")
        func handles() throws {
            let keys = VaultsKeys(keys: TokenKeys(try SoftwareToken().token()), vaultID: SoftwareToken.vaultID)
            let publicKey = try PrivateKey(generating: .p256).publicKey
            let handle = TokenKeyHandle(id: [1], label: [2], serial: "3", isOurs: true)
            let bytes = handle.encoded.exposed()
            #expect(try TokenKeyHandle(SecretBytes(bytes)) == handle)
            let wrong = (0..<bytes.count).map { Array(bytes.prefix($0)) } + [bytes + [0]]
            for bytes in wrong {
                #expect(throws: VaultError.token(.handleInvalid)) {
                    try keys.signer(of: KeptKey(publicKey: publicKey, handle: SecretBytes(bytes)))
                }
            }
        }

        @Test("keys on a token have a point that is read with and without its OCTET STRING")
        func points() {
            let point = [0x04] + [UInt8](repeating: 7, count: 64)
            #expect(TokenSession.point(in: point) == point)
            #expect(TokenSession.point(in: [0x04, 0x41] + point) == point)
            #expect(TokenSession.point(in: [0x04, 0x40] + point) == [0x04, 0x40] + point)
        }
    }
}
