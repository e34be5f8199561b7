import CPKCS11
import Cryptography
import Foundation
import Groundwork
import TestSupport
import Testing

@testable import Vault

extension SoftwareTokenTests {
    @Suite("A vault slot on a PKCS#11 token")
    struct TokenSlotTests {
        private let desk = try! Desk()  // Without a temporary directory there is nothing to test.
        private let token: SoftwareToken

        init() throws { token = try SoftwareToken() }

        private static let kinds = [["EC:prime256v1", "--usage-derive"], ["RSA:2048", "--usage-decrypt"]]

        private func makeKey(_ kind: [String], label: String = "vault", id: String = "01") throws {
            try token.tool(["--keypairgen", "--key-type", kind[0], kind[1], "--label", label, "--id", id])
        }

        private func slot(_ module: TokenModule? = nil, label: String = "vault") -> TokenSlot {
            TokenSlot(token.token(module), key: token.named(label))
        }

        @Test("a slot on a token is made without a PIN, and opens the vault with it", arguments: kinds)
        func opens(kind: [String]) async throws {
            try makeKey(kind)
            try await desk.fill((record, "a"))
            let vault = try await desk.open()
            token.offered.set(nil)
            #expect(try await vault.add(slot()).kind == .pkcs11)
            #expect(token.offered.asked.count == 0)
            await vault.close()

            await #expect(throws: VaultError.token(.pinMissing(token: token.label))) {
                try await desk.open(with: slot())
            }
            token.offered.set(SoftHSM.pin)
            let opened = try await desk.open(with: slot())
            #expect(try await opened.text(record) == "a")
            #expect(try await opened.openedBy().kind == .pkcs11)
            let rewrapped = try await opened.rewrap(slot: 2, with: slot())
            await opened.close()
            let again = try await desk.open(with: slot())
            #expect(try await again.openedBy().id == rewrapped.id)
            #expect(!Slot.Kind.pkcs11.isReplaceable && !Slot.Kind.pkcs11.isDevelopment)
        }

        @Test(
            "a slot on a token has a new key each time, and parameters that find the token key by id on the one token",
            arguments: kinds)
        func parameters(kind: [String]) async throws {
            try makeKey(kind)
            let (first, second) = (try await slot().makeWrappingKey(), try await slot().makeWrappingKey())
            #expect(first.key != second.key && first.key.count == 32 && first.parameters != second.parameters)
            #expect(first.parameters.count <= 4096)
            let read = try #require(TokenSlot.Parameters(decoding: first.parameters))
            #expect(read.encoded == first.parameters)
            #expect(read.uri.id == [1] && read.uri.token == token.label && read.uri.serial != nil)
            #expect(try await slot().wrappingKey(from: first.parameters) == first.key)
            #expect(try await slot().wrappingKey(from: second.parameters) == second.key)
        }

        @Test("a slot on a token does not open by another key, or without its key", arguments: kinds)
        func otherKey(kind: [String]) async throws {
            try makeKey(kind)
            await (try desk.open(with: slot(), creating: true)).close()
            try token.tool("--delete-object", "--type", "privkey", "--id", "01")
            let error = await #expect(throws: VaultError.self) { try await desk.open(with: slot()) }
            #expect(error?.explanation.code == "vault.token-key-missing")
            try token.tool("--delete-object", "--type", "pubkey", "--id", "01")
            try makeKey(kind)
            await #expect(throws: VaultError.self) { try await desk.open(with: slot()) }
        }

        @Test("a slot on a token sends the PIN to the token of the settings only, whatever the file says")
        func otherToken() async throws {
            try makeKey(Self.kinds[0])
            let made = try await slot().makeWrappingKey()
            let other = try SoftwareToken()
            let wrong = TokenSlot(other.token(), key: other.named("vault"))
            let uri = try #require(TokenSlot.Parameters(decoding: made.parameters)).uri
            await #expect(throws: VaultError.token(.noToken(uri: uri.ofToken.description))) {
                try await wrong.wrappingKey(from: made.parameters)
            }
        }

        @Test("a slot on a token is refused when its parameters were cut, lengthened or changed", arguments: kinds)
        func hostile(kind: [String]) async throws {
            try makeKey(kind)
            let made = try await slot().makeWrappingKey()
            let good = try #require(TokenSlot.Parameters(decoding: made.parameters))
            var wrong = (0..<made.parameters.count).map { Array(made.parameters.prefix($0)) }
            wrong.append(made.parameters + [0])
            wrong.append([UInt8](repeating: 0xFF, count: 4097))
            func with(uri: String? = nil, spki: [UInt8]? = nil, sent: [UInt8]? = nil) -> [UInt8] {
                var writer = FieldWriter(purpose: "latchkey token slot 1")
                writer.append(uri ?? good.uri.description)
                writer.append(spki ?? good.publicKey.spki)
                writer.append(sent ?? good.sent)
                return writer.bytes
            }
            #expect(with() == made.parameters)
            wrong.append(with(uri: "pkcs11:token=a"))
            wrong.append(with(uri: "pkcs11:object=a?pin-value=1"))
            wrong.append(with(uri: "pkcs11:id=%01;token=a"))
            wrong.append(with(sent: good.sent + [0]))
            wrong.append(with(sent: Array(good.sent.dropLast())))
            wrong.append(with(sent: [4] + [UInt8](repeating: 1, count: 64)))
            wrong.append(with(spki: good.publicKey.spki + [0]))
            wrong.append(with(spki: []))
            let asked = token.offered.asked.count
            for parameters in wrong {
                await #expect(throws: VaultError.slotParametersRefused(kind: .pkcs11)) {
                    try await slot().wrappingKey(from: parameters)
                }
            }
            #expect(token.offered.asked.count == asked)
        }

        @Test("a slot on a token is not made with a key that is not there, there twice or of another kind")
        func noKey() async throws {
            let named = token.named("vault").description
            await #expect(throws: VaultError.token(.noKey(name: named))) { try await slot().makeWrappingKey() }
            try makeKey(Self.kinds[0])
            try makeKey(Self.kinds[1], id: "02")
            await #expect(throws: VaultError.token(.severalKeys(name: named, count: 2))) {
                try await slot().makeWrappingKey()
            }
            try makeKey(["EC:secp384r1", "--usage-derive"], label: "other", id: "03")
            let error = await #expect(throws: VaultError.self) { try await slot(label: "other").makeWrappingKey() }
            #expect(error?.explanation.code == "vault.token-key-unsuitable")
        }

        @Test("a slot on a token whose token gives a secret of another size is refused", arguments: kinds)
        func shortSecret(kind: [String]) async throws {
            try makeKey(kind)
            let made = try await slot().makeWrappingKey()
            let faulty = try FaultyModule()
            #expect(try await slot(faulty.module).wrappingKey(from: made.parameters) == made.key)
            try faulty.set(.shortSecret)
            let error = await #expect(throws: VaultError.self) {
                try await slot(faulty.module).wrappingKey(from: made.parameters)
            }
            #expect(error?.explanation.code == "vault.token-answer-unusable")
            #expect(error?.explanation.message.contains("31 bytes") == true)
        }

        @Test("a slot on a token leaves the vault open when the token is taken out")
        func pulled() async throws {
            try makeKey(Self.kinds[0])
            let faulty = try FaultyModule()
            let vault = try await desk.open(with: slot(faulty.module), creating: true)
            faulty.module.finalize()
            try await vault.put(record, "b")
            #expect(try await vault.text(record) == "b")
        }
    }
}

private let record = RecordName(scope: "gateway.example:8443/", name: "token")
