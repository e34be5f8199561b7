import Cryptography
import Foundation
import TestSupport
import Testing
import Vault

/// A vault as version 0.1.0 has left it, of the tests of the vault.
@Suite("Killed while a vault of an earlier version is taken over", .timeLimit(.minutes(8)))
struct ConversionTests {
    static let states: Set<String> = ["vault-conversion-written", "vault-conversion-committed"]
    private static let old = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Vault/Formats/0.1.0")

    @Test("a vault killed while it is taken over has all its records at the next start", arguments: states.sorted())
    func takenOver(state: String) async throws {
        let board = try TestBoard()
        for name in ["vault.db", "vault.key"] {
            let file = board.state.appending(path: name)
            try Data(contentsOf: Self.old.appending(path: name)).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        }
        board.environment = ["LATCHKEY_KILL_AT": state]
        let daemon = try board.launch()
        #expect(try await daemon.ended() == 128 + SIGKILL)
        #expect(daemon.errors.text.contains("killed at \(state)\n"))

        board.environment = [:]
        try await board.start()
        #expect(try await board.status().registration.state == "unregistered")
        try await board.stop()
        let key = DevelopmentKeyFile(board.state.appending(path: "vault.key").path)
        let vault = try await Vault.open(
            at: board.state.appending(path: "vault.db").path, with: [key], creating: false)
        #expect(try await vault.faults().isEmpty)
        let token = try await vault.record(RecordName(scope: "gateway.example:8443/", name: "token"))
        #expect(token?.content.exposedText() == "second")
        await vault.close()
        try await board.tearDown()
    }
}
