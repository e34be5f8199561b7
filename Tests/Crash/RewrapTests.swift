import Cryptography
import Foundation
import TestSupport
import Testing
import Vault

@Suite("Killed while a vault is wrapped anew", .timeLimit(.minutes(8)))
struct RewrapTests {
    static let states: Set<String> = ["vault-rewrap-written", "vault-rewrap-committed"]

    @Test(
        "a vault killed while it is wrapped anew opens with the old key before the commit, the new one after",
        arguments: states.sorted())
    func rewrap(state: String) async throws {
        let board = try TestBoard()
        board.environment = ["LATCHKEY_KILL_AT": state]
        try await board.start()
        let daemon = try #require(board.daemon)
        let credential = "a credential of 32 bytes, no more"
        let answer = try await board.latchkey("vault", "rewrap", "1", "--kind", "systemd-credential", input: credential)
        #expect(answer.status != 0)
        #expect(try await daemon.ended() == 128 + SIGKILL)
        #expect(daemon.errors.text.contains("killed at \(state)\n"))

        let (path, folder) = (board.state.appending(path: "vault.db").path, board.state.path)
        let (old, new) = (DevelopmentKeyFile("\(folder)/vault.key"), GivenCredential(SecretBytes(utf8: credential)))
        let (fits, fails): (any SlotKey, any SlotKey) = state == "vault-rewrap-written" ? (old, new) : (new, old)
        await #expect(throws: VaultError.noSlotOpens(path: path, tried: [fails.kind])) {
            try await Vault.open(at: path, with: [fails], creating: false)
        }
        let opened = try await Vault.open(at: path, with: [fits], creating: false)
        #expect(try await opened.faults().isEmpty)
        await opened.close()
        try await board.tearDown()
    }
}
