import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("Keys of a board's store", .timeLimit(.minutes(15)))
struct VaultTests {
    /// What systemd hands over, with the settings that ask for it.
    private func give(_ credential: String, to board: TestBoard) throws {
        let folder = board.folder.appending(path: "credentials")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "latchkey-vault")
        try Data(credential.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o440], ofItemAtPath: file.path)
        board.environment["CREDENTIALS_DIRECTORY"] = folder.path
        let settings = try String(contentsOf: board.configuration, encoding: .utf8)
        try settings.replacing("development-key-file", with: "systemd-credential")
            .write(to: board.configuration, atomically: true, encoding: .utf8)
    }

    private func identity(_ board: TestBoard) async throws -> String {
        let status = try await board.status { $0.isConnected }
        return try #require(status.registration.magIdentifier)
    }

    private func slots(_ board: TestBoard) async throws -> [String] {
        try #require(try await board.ask("vault", "slots")["slots"] as? [[String: Any]]).map { slot in
            "\(slot["id"] ?? "?") \(slot["kind"] ?? "?")\(slot["isInUse"] as? Bool == true ? ", in use" : "")"
        }
    }

    @Test("the vault's key can be changed to a credential, and a leaked one replaced, without enrolling again")
    func moved() async throws {
        let (first, second) = ("the first credential of this board", "the other one, once the first leaked")
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            let identifier = try await identity(board)
            #expect(try await slots(board) == ["1 development-file, in use"])

            try await board.ask("vault", "add", "--kind", "systemd-credential", "--key-file", try key(first, board))
            try await board.stop()
            try give(first, to: board)
            try await board.start()
            #expect(try await slots(board) == ["1 development-file", "2 systemd-credential, in use"])
            let inUse = try await board.latchkey("vault", "remove", "2")
            #expect(inUse.status != 0)
            #expect(inUse.errors.contains("slot 2 opened the vault"))
            try await board.ask("vault", "remove", "1")
            try FileManager.default.removeItem(at: board.state.appending(path: "vault.key"))

            try await board.ask(
                "vault", "rewrap", "2", "--kind", "systemd-credential", "--key-file", try key(second, board))
            try await board.stop()
            let refused = try board.launch()
            #expect(try await refused.ended() == 78)
            #expect(refused.errors.text.contains("no slot opens with systemd-credential"))

            try give(second, to: board)
            try await board.start()
            #expect(try await identity(board) == identifier)
            #expect(try await slots(board) == ["2 systemd-credential, in use"])
            #expect(await lab.devices().count == 1)
        }
    }

    @Test("the vault's records are sealed with a new key while the board works, and it stays what it is")
    func rekeyed() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            let identifier = try await identity(board)
            let done = try await board.ask("vault", "rekey")
            #expect(try #require(done["moved"] as? Int) > 3 && done["damaged"] as? [String] == [])
            #expect(try await board.latchkey("vault", "rekey").output.contains(" records with a new key"))
            try await board.ask(
                "vault", "add", "--kind", "passphrase", "--key-file", try key("a long passphrase", board))
            let left = try await board.latchkey("vault", "rekey", "--root")
            #expect(left.status != 0 && left.errors.contains("would leave without effect: 2"), "\(left.errors)")
            try await board.ask("vault", "rekey", "--root", "--drop", "2")
            #expect(try await slots(board) == ["1 development-file, in use"])
            try await board.stop()
            try await board.start()
            #expect(try await identity(board) == identifier)
            let checks = try await board.latchkey("doctor").output
            #expect(checks.contains("warn  vault: opened by a development key file"), "\(checks)")
        }
    }

    private func key(_ text: String, _ board: TestBoard) throws -> String {
        let file = board.folder.appending(path: "key-\(text.count)")
        try Data(text.utf8).write(to: file)
        return file.path
    }

    @Test(
        "the vault's key cannot be too short or of a missing slot, and the last slot stays",
        arguments: [
            (
                ["add", "--kind", "passphrase"], "fifteen letters\n",
                "the passphrase has 15 bytes; a new slot needs at least 16"
            ),
            (["add", "--kind", "systemd-credential"], "short", "the credential has 5 bytes"),
            (["rewrap", "7", "--kind", "passphrase"], "sixteen letters!", "has no slot 7"),
            (["remove", "7"], "", "has no slot 7"),
            (["remove", "1"], "", "slot 1 opened the vault"),
        ])
    func refused(arguments: [String], input: String, says: String) async throws {
        let board = try TestBoard()
        try await board.start()
        let answer = try await Program(name: "latchkey").run(
            ["vault"] + arguments + ["--socket", board.socket], input: input)
        #expect(answer.status != 0)
        #expect(answer.errors.contains(says), "\(answer.errors)")
        #expect(try await slots(board) == ["1 development-file, in use"])
        try await board.tearDown()
    }

    @Test("the vault's key is not needed to start over after the vault's file was lost and its log was left")
    func leftOverLog() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await identity(board)
            try await board.stop(SIGKILL)
            try FileManager.default.removeItem(at: board.state.appending(path: "vault.db"))
            #expect(FileManager.default.fileExists(atPath: board.state.appending(path: "vault.db-wal").path))
            try await board.start()
            let status = try await board.status()
            #expect(status.registration.state == "unregistered")
            let left = (status.setAside ?? []).filter { $0.hasPrefix("vault.db.damaged-") }
            #expect(left.count == 1, "\(status)")
            _ = try await board.enroll(at: lab)
            _ = try await identity(board)
        }
    }
}
