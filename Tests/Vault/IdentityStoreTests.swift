@_spi(KeyBytes) import Cryptography
import Foundation
import Groundwork
import TestSupport
import Testing

@testable import Vault

@Suite("The identity store")
struct IdentityStoreTests {
    private let desk = try! Desk()  // Without a temporary directory there is nothing to test.
    private let authority = try! TestAuthority()

    /// A file in PEM with these identities.
    private func file(_ identities: TLSIdentity...) throws -> SecretBytes {
        SecretBytes(utf8: try identities.map { try $0.keyPEM + $0.chain.map(\.pem).joined() }.joined())
    }

    private func identity(_ name: String, until: TimeInterval = 3600) throws -> TLSIdentity {
        try authority.identity(name, usage: .client, until: until)
    }

    private func add(
        _ file: SecretBytes, to vault: Vault, named name: String? = nil, hosts: [String] = [],
        level: ProtectionLevel = .always
    ) async throws -> [ClientIdentity] {
        try await IdentityStore(vault).add(
            from: file, password: SecretBytes([]), named: name, hosts: hosts, level: level, at: Date())
    }

    @Test("the identity store gives back what it imported, also after a restart, and nothing of a key is in the clear")
    func imported() async throws {
        var vault = try await desk.open()
        let (first, second) = (try identity("Büro 7/Nord"), try identity("b"))
        let added = try await add(file(first, second), to: vault, hosts: ["api.example:443"])
        #expect(added.map(\.name) == ["b-ro-7-nord", "b"])
        #expect(added.map(\.hosts) == [["api.example:443"], []])
        await vault.close()
        vault = try await desk.open(creating: false)
        let store = IdentityStore(vault)
        #expect(try await store.all().map(\.name) == ["b", "b-ro-7-nord"])
        let shown = try #require(try await store.shown(try await store.identity("b")))
        #expect(shown.key.publicKey == second.key.publicKey && shown.chain == second.chain)
        let key = try second.key.pkcs8().exposed()
        for name in try FileManager.default.contentsOfDirectory(atPath: desk.directory) {
            let bytes = try Data(contentsOf: URL(filePath: "\(desk.directory)/\(name)"))
            #expect(bytes.range(of: Data(key.suffix(24))) == nil, "\(name)")
        }
    }

    @Test("the identity store imports every identity of a file or none")
    func allOrNone() async throws {
        let vault = try await desk.open()
        let (good, expired) = (try identity("good"), try identity("old", until: -60))
        await #expect(throws: VaultError.identity(.expired(expired.chain[0]))) {
            try await add(file(good, expired), to: vault, hosts: ["a:443"])
        }
        #expect(try await IdentityStore(vault).all() == [])
        #expect(try await vault.scopes() == [])
        _ = try await add(file(good), to: vault)
        let scopes = try await vault.scopes()
        await #expect(throws: VaultError.identity(.certificateTaken(name: "good"))) {
            try await add(file(try identity("new"), good), to: vault)
        }
        await #expect(throws: VaultError.identity(.nameTaken(name: "good"))) {
            try await add(file(try identity("new")), to: vault, named: "good")
        }
        await #expect(throws: VaultError.identity(.nameInvalid(name: "Good"))) {
            try await add(file(try identity("new")), to: vault, named: "Good")
        }
        await #expect(throws: VaultError.passcode(.noPasscode)) {
            try await add(file(try identity("new")), to: vault, level: .unlocked)
        }
        #expect(try await vault.scopes() == scopes)
        #expect(
            try await add(file(try identity("good"), try identity("Good")), to: vault).map(\.name) == [
                "good-2", "good-3",
            ])
    }

    @Test("the identity store keeps at most 32 identities, and 32 hosts for each")
    func limits() async throws {
        let vault = try await desk.open()
        let many = try (0..<16).map { try identity("i\($0)") }
        let file = SecretBytes(utf8: try many.map { try $0.keyPEM + $0.chain[0].pem }.joined())
        _ = try await add(file, to: vault)
        let more = try (16..<32).map { try identity("i\($0)") }
        _ = try await add(SecretBytes(utf8: try more.map { try $0.keyPEM + $0.chain[0].pem }.joined()), to: vault)
        await #expect(throws: VaultError.identity(.tooMany(limit: 32))) {
            try await add(self.file(try identity("x")), to: vault)
        }
        await #expect(throws: VaultError.identity(.tooManyHosts(limit: 32))) {
            try await IdentityStore(vault).use("i0", for: (1...33).map { "h\($0):443" })
        }
    }

    @Test("the identity store has each host shown one identity")
    func hosts() async throws {
        let vault = try await desk.open()
        let store = IdentityStore(vault)
        _ = try await add(file(try identity("a")), to: vault, hosts: ["x:443", "y:443"])
        _ = try await add(file(try identity("b")), to: vault, hosts: ["y:443"])
        #expect(try await store.all().map(\.hosts) == [["x:443"], ["y:443"]])
        #expect(try await store.use("b", for: ["z:443", "x:443"]).hosts == ["x:443", "z:443"])
        #expect(try await store.all().map(\.hosts) == [[], ["x:443", "z:443"]])
        _ = try await store.use("b", for: [])
        #expect(try await store.all().map(\.hosts) == [[], []])
        await #expect(throws: VaultError.identity(.unknown(name: "c"))) { try await store.use("c", for: []) }
    }

    @Test("the identity store removes an identity with its key")
    func removed() async throws {
        let vault = try await desk.open()
        let store = IdentityStore(vault)
        _ = try await add(file(try identity("a")), to: vault)
        try await store.remove("a")
        #expect(try await vault.scopes() == [])
        await #expect(throws: VaultError.identity(.unknown(name: "a"))) { try await store.remove("a") }
        await #expect(throws: VaultError.identity(.unknown(name: "../a"))) { try await store.identity("../a") }
    }

    @Test("the identity store has a key made and takes only a certificate for it", arguments: [false, true])
    func requested(inHardware: Bool) async throws {
        let keeper = MemoryKeeper()
        let vault = Vault(path: desk.path, keepers: [.tpm: keeper])
        try await vault.unseal(with: [desk.key], creating: true)
        let store = IdentityStore(vault)
        let choice = KeyChoice(keeper: inHardware ? .tpm : .software, kind: .p256)
        let request = try await store.request("r", for: DistinguishedName([(.commonName, "board")]), choice)
        #expect(try CertificateRequest(der: request.der).subject[.commonName] == "board")
        #expect(request.pem.hasPrefix("-----BEGIN CERTIFICATE REQUEST-----\n"))
        let pending = try await store.identity("r")
        #expect(pending.key.keeper == choice.keeper && pending.certificate == nil)
        #expect(try await store.shown(pending) == nil)
        let other = try identity("other")
        await #expect(throws: VaultError.cryptography(.noCertificateFits(.identityFile))) {
            try await store.install(other.chain, in: "r", at: Date())
        }
        let key = try #require(try await vault.keys(of: ClientIdentity.scope(of: "r")).key(pending.key))
        let issued = try authority.identity("board", usage: .client, key: key).chain[0]
        let installed = try await store.install(
            [authority.certificate, other.chain[0], issued], in: "r", at: Date())
        #expect(installed.chain == [issued, authority.certificate])
        let shown = try #require(try await store.shown(installed))
        _ = try TLSContext(trust: ServerTrust(host: "localhost", anchors: [authority.certificate]), identity: shown)
        await #expect(throws: VaultError.identity(.nameTaken(name: "r"))) {
            try await store.request("r", for: DistinguishedName([(.commonName, "board")]), choice)
        }
    }
}
