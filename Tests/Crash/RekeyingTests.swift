import Cryptography
import Foundation
import TestSupport
import Testing
import Vault

@Suite("Killed while a vault is rekeyed", .timeLimit(.minutes(8)))
struct RekeyingTests {
    static let states: Set<String> = [
        "vault-rekey-begun", "vault-rekey-moved", "vault-rekey-ended", "vault-root-key-written",
        "vault-root-key-committed",
    ]

    @Test(
        "a vault killed while it is rekeyed has all its records, and the next start finishes",
        arguments: states.sorted())
    func rekeyed(state: String) async throws {
        let board = try TestBoard()
        try await board.start()
        try await board.stop()
        let path = board.state.appending(path: "vault.db").path
        let key = DevelopmentKeyFile(board.state.appending(path: "vault.key").path)
        let name = RecordName(scope: "test", name: "record")
        var vault = try await Vault.open(at: path, with: [key], creating: false)
        try await vault.commit([.put(name, .state, SecretBytes(utf8: "content"))])
        await vault.close()

        board.environment = ["LATCHKEY_KILL_AT": state]
        try await board.start()
        let daemon = try #require(board.daemon)
        let root = state.hasPrefix("vault-root") ? ["--root"] : []
        let command = ["vault", "rekey"] + root + ["--socket", board.socket]
        #expect(try await Program(name: "latchkey").run(command).status != 0)
        #expect(try await daemon.ended() == 128 + SIGKILL)
        #expect(daemon.errors.text.contains("killed at \(state)\n"))

        board.environment = [:]
        // Nothing has begun, or all is done.
        if ["vault-rekey-ended", "vault-root-key-written"].contains(state) {
            try await board.start()
        } else {
            _ = try await board.launch().errors.line(containing: "sealed with a new key")
        }
        try await board.stop()
        vault = try await Vault.open(at: path, with: [key], creating: false)
        #expect(try await !vault.isRekeying())
        #expect(try await vault.faults().isEmpty)
        #expect(try await vault.record(name)?.content.exposedText() == "content")
        await vault.close()
        try await board.tearDown()
    }
}
