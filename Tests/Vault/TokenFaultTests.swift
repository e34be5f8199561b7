import CPKCS11
import Cryptography
import Foundation
import Groundwork
import Testing

@testable import Vault

extension SoftwareTokenTests {
    @Suite("A PKCS#11 module that answers wrongly")
    struct TokenFaultTests {
        private static let digest = UnsignedDigest(Digest.sha256.hash("message".utf8), by: .sha256, .ecdsa)
        private static let pss = UnsignedDigest(Digest.sha256.hash("message".utf8), by: .sha256, .pss(saltBytes: 32))
        private let faulty: FaultyModule
        private let token: SoftwareToken
        private let keys: VaultsKeys

        init() throws {
            faulty = try FaultyModule()
            token = try SoftwareToken(module: faulty.module)
            keys = token.keys()
        }

        @Test("a token module that has lost the session gets a new one, once")
        func reopened() throws {
            let key = try keys.make(.p256, name: "device")
            let codes = [
                CKR_SESSION_HANDLE_INVALID, CKR_SESSION_CLOSED, CKR_DEVICE_REMOVED, CKR_TOKEN_NOT_PRESENT,
                CKR_USER_NOT_LOGGED_IN,
            ]
            for code in codes { try reopened(code, key) }
        }

        private func reopened(_ code: UInt, _ key: KeptKey) throws {
            let signer = try keys.signer(of: key)
            try faulty.set(.code, code)
            let before = try faulty.count(.opened)
            try faulty.set(.losses, 1)
            #expect(key.publicKey.verifies(try signer.sign(Self.digest), of: Self.digest))
            #expect(try faulty.count(.opened) == before + 1)

            try faulty.set(.losses, 2)
            let gone = VaultError.token(.tokenGone(uri: token.uri.description))
            #expect(throws: gone) { try signer.sign(Self.digest) }
            #expect(try faulty.count(.opened) == before + 2)
            #expect(gone.explanation.kind == .temporary)
            #expect(key.publicKey.verifies(try signer.sign(Self.digest), of: Self.digest))
        }

        @Test("a token module that has lost the token says so for now, until it is back")
        func pulled() throws {
            let key = try keys.make(.p256, name: "device")
            let signer = try keys.signer(of: key)
            try faulty.set(.code, CKR_TOKEN_NOT_PRESENT)
            try faulty.set(.losses, 1)
            try faulty.set(.closed, 1)
            #expect(throws: VaultError.token(.tokenGone(uri: token.uri.description))) { try signer.sign(Self.digest) }
            #expect(key.publicKey.verifies(try signer.sign(Self.digest), of: Self.digest))
        }

        @Test("a token module with another code names it, and does not try again")
        func refused() throws {
            let key = try keys.make(.p256, name: "device")
            let before = try faulty.count(.opened)
            try faulty.set(.code, CKR_DEVICE_MEMORY)
            try faulty.set(.losses, 1)
            let error = VaultError.token(.refused(operation: "sign", code: CKR_DEVICE_MEMORY))
            #expect(throws: error) { try keys.signer(of: key).sign(Self.digest) }
            #expect(error.explanation.message == "the token cannot sign: CKR_DEVICE_MEMORY")
            #expect(try faulty.count(.opened) == before)
        }

        @Test("a token module with a wrong signature gives none to a caller, and makes no key")
        func wrongSignature() throws {
            let key = try keys.make(.p256, name: "device")
            let foreign = try PrivateKey(foreign: try keys.signer(of: key), publicKey: key.publicKey)
            try faulty.set(.wrongSignature)
            let error = #expect(throws: CryptographyError.self) {
                try JWS.sign([1], algorithm: .ES256, key: .key(foreign))
            }
            #expect(error?.explanation.code == "cryptography.foreign-key")
            #expect(error?.explanation.cause == "cryptography.signature-invalid")
            let name = "latchkey \(String(repeating: "a5", count: 16)) second"
            #expect(throws: VaultError.token(.signatureWrong(name: name))) { try keys.make(.p256, name: "second") }
            try faulty.set(.wrongSignature, 0)
            #expect(try keys.orphans(known: [key]) == [])
        }

        @Test(
            "a token module with a signature of another size is refused",
            arguments: [FaultyModule.Fault.longSignature, .shortSignature])
        func signatureSize(fault: FaultyModule.Fault) throws {
            for algorithm in [PrivateKey.Algorithm.p256, .rsa(bits: 2048)] {
                let key = try keys.make(algorithm, name: "device")
                try faulty.set(fault)
                let error = #expect(throws: VaultError.self) {
                    try keys.signer(of: key).sign(algorithm == .p256 ? Self.digest : Self.pss)
                }
                #expect(error?.explanation.code == "vault.token-answer-unusable")
                try faulty.set(fault, 0)
            }
        }

        @Test("a token module with sizes and counts beyond all bounds is refused")
        func bounds() throws {
            _ = try keys.make(.p256, name: "device")
            let faults: [(FaultyModule.Fault, Int)] = [
                (.attributeSize, 1 << 40), (.attributeSize, (16 << 10) + 1), (.growingAttribute, 1), (.manyObjects, 1),
                (.endlessObjects, 1), (.slotCount, 65), (.slotCount, .max),
            ]
            for (fault, value) in faults {
                try faulty.set(fault, value)
                let error = #expect(throws: VaultError.self, "\(fault) \(value)") {
                    try token.keys().orphans(known: [])
                }
                #expect(error?.explanation.code == "vault.token-answer-unusable", "\(fault) \(value)")
                try faulty.set(fault, 0)
            }
        }

        @Test("a token module that would give a new key away makes none")
        func extractable() throws {
            try faulty.set(.extractable)
            let name = "latchkey \(String(repeating: "a5", count: 16)) device"
            #expect(throws: VaultError.token(.keyExtractable(name: name))) { try keys.make(.p256, name: "device") }
            try faulty.set(.extractable, 0)
            #expect(try keys.orphans(known: []) == [])
        }

        @Test("a token module without PSS signs blocks that are made here")
        func withoutPSS() throws {
            try faulty.set(.noPSS)
            let key = try keys.make(.rsa(bits: 2048), name: "device")
            for (hash, salt) in [(Digest.sha256, 32), (.sha384, 32), (.sha512, 64), (.sha256, 0)] {
                let digest = UnsignedDigest(hash.hash("message".utf8), by: hash, .pss(saltBytes: salt))
                #expect(key.publicKey.verifies(try keys.signer(of: key).sign(digest), of: digest), "\(hash) \(salt)")
            }
        }

        @Test("a token module that leaves the OCTET STRING out of a point makes keys too")
        func bareEC() throws {
            try faulty.set(.bareEC)
            let key = try keys.make(.p256, name: "device")
            #expect(key.publicKey.verifies(try keys.signer(of: key).sign(Self.digest), of: Self.digest))
        }

        @Test("a token module that is closed takes no more calls, and only who has initialized it ends it")
        func ended() throws {
            let key = try keys.make(.p256, name: "device")
            faulty.module.finalize()
            #expect(try faulty.count(.finalized) == 0)
            #expect(throws: VaultError.token(.moduleEnded(path: faulty.path))) {
                try keys.signer(of: key).sign(Self.digest)
            }
            #expect(throws: VaultError.token(.moduleEnded(path: faulty.path))) { try token.token().describe() }
        }

        @Test("a token module of one token hides no other, and names what is wrong with this one")
        func broken() throws {
            let slot = Int(try token.token().describe().slot)
            let other = try SoftwareToken(module: faulty.module)
            try faulty.set(.broken, Int(try other.token().describe().slot))
            #expect(Int(try token.token().describe().slot) == slot)
            try faulty.set(.broken, slot)
            let error = VaultError.token(.refused(operation: "describe a token", code: CKR_GENERAL_ERROR))
            #expect(throws: error) { try token.token().describe() }
        }

        @Test("a token module is ended once by who has initialized it, and not at all before it was used")
        func finalized() throws {
            let faulty = try FaultyModule("-DUSED_FIRST")
            #expect(try token.token(faulty.module).describe().label == token.label)
            faulty.module.finalize()
            faulty.module.finalize()
            #expect(try faulty.count(.finalized) == 1)
            let unused = try FaultyModule("-DUSED_FIRST")
            unused.module.finalize()
            #expect(try unused.count(.finalized) == 0)
        }

        @Test("a token module that has no locks is used all the same")
        func withoutLocks() throws {
            let faulty = try FaultyModule("-DWITHOUT_LOCKS")
            #expect(try token.token(faulty.module).describe().label == token.label)
        }

        @Test("a token module that lacks a function, or is of another version, is refused")
        func incomplete() throws {
            for option in ["WITHOUT_SIGN", "OF_VERSION_1"] {
                let faulty = try FaultyModule("-D\(option)")
                let error = #expect(throws: VaultError.self) { try token.token(faulty.module).describe() }
                #expect(error?.explanation.code == "vault.token-module-invalid")
            }
        }
    }
}
