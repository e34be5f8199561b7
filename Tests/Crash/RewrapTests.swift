import Cryptography
import Foundation
import Testing
import Vault

@Suite("Killed while a vault is wrapped anew", .timeLimit(.minutes(1)))
struct RewrapTests {
    static let states: Set<String> = ["vault-rewrap-written", "vault-rewrap-committed"]

    @Test("before the commit the old key opens it, after it the new one, and only that one", arguments: states.sorted())
    func rewrap(state: String) async throws {
        let folder = "/tmp/lk-\(UInt32.random(in: .min ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (path, old, new) = ("\(folder)/vault.db", DevelopmentKeyFile("\(folder)/old"), DevelopmentKeyFile("\(folder)/new"))
        let name = RecordName(scope: "", name: "record")
        let vault = try await Vault.open(at: path, with: [old], creating: true)
        try await vault.commit([.put(name, .state, SecretBytes(utf8: "kept"))])
        await vault.close()

        let program = Program(name: "vault-rewrap")
        let killed = try await program.run([path, old.path, new.path], environment: ["LATCHKEY_KILL_AT": state])
        #expect(killed.status == 128 + SIGKILL)
        #expect(killed.errors == "killed at \(state)\n")

        let (fits, fails) = state == "vault-rewrap-written" ? (old, new) : (new, old)
        await #expect(throws: VaultError.noSlotOpens(path: path, tried: [.developmentFile])) {
            try await Vault.open(at: path, with: [fails], creating: false)
        }
        let opened = try await Vault.open(at: path, with: [fits], creating: false)
        #expect(try await opened.record(name)?.content.exposedText() == "kept")
        #expect(try await opened.faults().isEmpty)
        await opened.close()
    }
}
