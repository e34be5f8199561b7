import CPKCS11
import Cryptography
import Foundation
import Groundwork
import TestSupport
import Testing

@testable import Vault

extension SoftwareTokenTests {
    @Suite("PIN of a PKCS#11 token")
    struct PINTests {
        private let faulty: FaultyModule
        private let token: SoftwareToken

        init() throws {
            faulty = try FaultyModule()
            token = try SoftwareToken(module: faulty.module)
        }

        /// Looks for private keys, as a program does that has just started.
        private func start() throws { _ = try token.keys().orphans(known: []) }

        private func wrong(isFinalTry: Bool = false, isLocked: Bool = false) -> VaultError {
            .token(.pinWrong(token: token.label, isFinalTry: isFinalTry, isLocked: isLocked))
        }

        private var knownWrong: VaultError { .token(.pinKnownWrong(token: token.label)) }
        private var hasFailedTries: Bool { get throws { try token.token().describe().hasFailedTries } }

        @Test("a PIN that was wrong is not offered again, by a program that starts again and again")
        func once() throws {
            token.offered.set("000000")
            #expect(throws: wrong()) { try start() }
            #expect(try hasFailedTries)
            // Somebody logs in with the right one, so that the token would show a further try.
            try token.tool("--list-objects")
            #expect(try !hasFailedTries)
            for _ in 0..<20 { #expect(throws: knownWrong) { try start() } }
            #expect(try !hasFailedTries)
            #expect(try faulty.count(.logins) == 1)
            #expect(knownWrong.explanation.kind == .denied)
        }

        @Test("a PIN is offered when it has changed, and the wrong one is still remembered")
        func changed() throws {
            token.offered.set("000000")
            #expect(throws: wrong()) { try start() }
            token.offered.set(SoftHSM.pin)
            try start()
            try start()
            token.offered.set("000000")
            #expect(throws: knownWrong) { try start() }
            token.offered.set("000001")
            #expect(throws: wrong()) { try start() }
            token.offered.set(SoftHSM.pin)
            try start()
            #expect(try !hasFailedTries)
            #expect(try faulty.count(.logins) == 5)
        }

        @Test("a PIN that is wrong for one token may be right for another")
        func ofAnother() throws {
            token.offered.set("000000")
            #expect(throws: wrong()) { try start() }
            let other = try SoftwareToken(module: faulty.module)
            let memory = PINMemory(path: token.memoryPath)
            let keys = VaultsKeys(
                keys: TokenKeys(
                    Token(other.uri, module: faulty.module, memory: memory) { SecretBytes(utf8: "000000") }),
                vaultID: SoftwareToken.vaultID)
            let error = VaultError.token(.pinWrong(token: other.label, isFinalTry: false, isLocked: false))
            #expect(throws: error) { try keys.orphans(known: []) }
        }

        @Test("a PIN is not tried when one more wrong one would lock the token, unless it has worked in this process")
        func finalTry() throws {
            let flags = Int(CKF_USER_PIN_FINAL_TRY | CKF_USER_PIN_COUNT_LOW)
            try faulty.set(.flags, flags)
            #expect(throws: VaultError.token(.pinFinalTry(token: token.label))) { try start() }
            #expect(try faulty.count(.logins) == 0)

            try faulty.set(.flags, 0)
            let keys = token.keys()
            let key = try keys.make(.p256, name: "device")
            try faulty.set(.flags, flags)
            try faulty.set(.code, CKR_SESSION_CLOSED)
            try faulty.set(.losses, 1)
            let digest = UnsignedDigest(Digest.sha256.hash([]), by: .sha256, .ecdsa)
            #expect(key.publicKey.verifies(try keys.signer(of: key).sign(digest), of: digest))
            #expect(try faulty.count(.logins) == 2)
        }

        @Test("a PIN of a token that is locked, or whose PIN must change, is not asked for")
        func lockedOrOld() throws {
            try faulty.set(.flags, Int(CKF_USER_PIN_LOCKED))
            #expect(throws: VaultError.token(.pinLocked(token: token.label))) { try start() }
            try faulty.set(.flags, Int(CKF_USER_PIN_TO_BE_CHANGED))
            #expect(throws: VaultError.token(.pinMustChange(token: token.label))) { try start() }
            #expect(token.offered.asked.count == 0)
            #expect(try faulty.count(.logins) == 0)
        }

        @Test("a PIN that is missing, empty or too long is not offered")
        func missing() throws {
            for pin in [nil, "", String(repeating: "1", count: 257)] {
                token.offered.set(pin)
                #expect(throws: VaultError.token(.pinMissing(token: token.label))) { try start() }
            }
            #expect(try faulty.count(.logins) == 0)
        }

        @Test("a PIN is entered at a token with a pad of its own")
        func pad() throws {
            token.offered.set(nil)
            try faulty.set(.flags, Int(CKF_PROTECTED_AUTHENTICATION_PATH))
            try start()
            #expect(try faulty.count(.logins) == 1)
        }

        @Test("a PIN is asked for once while the session lasts, and not at all for what is public")
        func asked() throws {
            let keys = token.keys()
            _ = try token.token().describe()
            #expect(token.offered.asked.count == 0)
            let key = try keys.make(.p256, name: "device")
            let signer = try keys.signer(of: key)
            let digest = UnsignedDigest(Digest.sha256.hash([]), by: .sha256, .ecdsa)
            for _ in 0..<5 { _ = try signer.sign(digest) }
            #expect(token.offered.asked.count == 1)
        }

        @Test("a PIN is given for each signature of a key that wants it so")
        func alwaysAuthenticate() throws {
            try token.make("card", "RSA:2048", "--always-auth")
            let keys = token.keys()
            let key = try keys.adopt(token.named("card"))
            let logins = try faulty.count(.logins)
            let signer = try keys.signer(of: key)
            let digest = UnsignedDigest(Digest.sha256.hash([]), by: .sha256, .pkcs1)
            for _ in 0..<3 { #expect(key.publicKey.verifies(try signer.sign(digest), of: digest)) }
            #expect(try faulty.count(.logins) == logins + 3)
        }

        @Test("a PIN is nowhere in the files, which only their owner may read")
        func files() throws {
            token.offered.set("000000")
            #expect(throws: wrong()) { try start() }
            for path in [token.memoryPath, token.memoryPath + ".key"] {
                #expect(try token.desk.mode(path) == 0o600)
                #expect(try Data(contentsOf: URL(filePath: path)).range(of: Data("000000".utf8)) == nil)
            }
            // One that has worked leaves nothing.
            let size = try Data(contentsOf: URL(filePath: token.memoryPath)).count
            token.offered.set(SoftHSM.pin)
            try start()
            #expect(try Data(contentsOf: URL(filePath: token.memoryPath)).count == size)
        }

        @Test("a PIN is not offered while what is remembered is damaged, open to others or cannot be written")
        func memory() throws {
            token.offered.set("000000")
            #expect(throws: wrong()) { try start() }
            let whole = try Data(contentsOf: URL(filePath: token.memoryPath))
            token.offered.set(SoftHSM.pin)
            func refusal() -> String? {
                let error = #expect(throws: VaultError.self) { try start() }
                return error?.explanation.code
            }
            for bytes in [Data(), whole.prefix(whole.count - 1), whole + Data([0]), Data(repeating: 1, count: 5000)] {
                try token.desk.write(bytes, to: token.memoryPath)
                #expect(refusal() == "vault.token-pin-memory")
            }
            try token.desk.write(whole, to: token.memoryPath, mode: 0o640)
            #expect(refusal() == "vault.token-pin-memory")
            try token.desk.write(whole, to: token.memoryPath)
            #expect(symlink("/nowhere", token.memoryPath + ".new") == 0)
            #expect(refusal() == "vault.token-pin-memory")
            #expect(try faulty.count(.logins) == 1)
            unlink(token.memoryPath + ".new")
            try start()
            #expect(try faulty.count(.logins) == 2)
        }

        @Test("a PIN that was being offered when the power went is offered again only if the token counts no wrong one")
        func interrupted() throws {
            let state = try token.token().describe()
            let pin = SecretBytes(utf8: SoftHSM.pin)
            try PINMemory(path: token.memoryPath).begin(pin, for: state)
            try faulty.set(.flags, Int(CKF_USER_PIN_COUNT_LOW))
            #expect(throws: VaultError.token(.pinUncertain(token: token.label))) { try start() }
            #expect(try faulty.count(.logins) == 0)
            try faulty.set(.flags, 0)
            try start()
            try faulty.set(.flags, Int(CKF_USER_PIN_COUNT_LOW))
            try start()
        }

        @Test("a PIN that may be right is not on the disk while it is offered")
        func offered() throws {
            let state = try token.token().describe()
            let files = try ["111111", "222222"].map { pin in
                try PINMemory(path: token.memoryPath).begin(SecretBytes(utf8: pin), for: state)
                return try Data(contentsOf: URL(filePath: token.memoryPath))
            }
            #expect(files[0] == files[1] && !files[0].isEmpty)
        }

        @Test("a PIN leaves no more than the newest 32 wrong ones behind")
        func many() throws {
            let state = try token.token().describe()
            let memory = PINMemory(path: token.memoryPath)
            for number in 0..<40 {
                let pin = SecretBytes(utf8: "\(1000 + number)")
                try memory.begin(pin, for: state)
                try memory.end(pin, for: state, hasWorked: false)
            }
            #expect(throws: knownWrong) { try memory.begin(SecretBytes(utf8: "1039"), for: state) }
            #expect(throws: knownWrong) { try memory.begin(SecretBytes(utf8: "1008"), for: state) }
            try memory.begin(SecretBytes(utf8: "1007"), for: state)
        }
    }
}
