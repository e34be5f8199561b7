import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("Copies of a board's store", .timeLimit(.minutes(15)))
struct VaultExportTests {
    private static let passphrase = "a long passphrase of a backup"

    private func export(_ board: TestBoard, _ more: String...) async throws -> (String, Program.Result) {
        let file = board.folder.appending(path: "copy-\(UInt32.random(in: .min ... .max))").path
        let result = try await Program.shipped.run(
            ["vault", "export", file, "--json", "--socket", board.socket] + more, input: Self.passphrase + "\n")
        return (file, result)
    }

    private func restore(_ file: String, on board: TestBoard, passphrase: String = passphrase) async throws
        -> Program.Result
    {
        try await board.latchkey("vault", "restore", file, "--json", input: passphrase + "\n")
    }

    private func code(_ result: Program.Result) throws -> String? {
        value(try JSONSerialization.jsonObject(with: Data(result.errors.utf8)), "error", "code") as? String
    }

    /// Gives `body` a second board.
    private func withFreshBoard(settings: String = "", _ body: (TestBoard) async throws -> Void) async throws {
        let board = try TestBoard(settings: settings)
        do {
            try await board.start()
            try await body(board)
        } catch {
            let failure = board.withLastWords(error)
            try? await board.tearDown()
            throw failure
        }
        try await board.tearDown()
    }

    private func names(_ result: Program.Result, _ member: String) throws -> [String] {
        try #require(try result.json[member] as? [String])
    }

    /// Waits until the agent has ended by itself, and starts it as systemd does.
    private func startAgain(_ board: TestBoard) async throws {
        #expect(try await board.daemon?.ended() == 0)
        try await board.start()
    }

    @Test("an export without the identity takes accounts and values to another board, which registers by itself")
    func withoutIdentity() async throws {
        let settings = "[storage]\nlocal = true"
        try await withLabAndBoard(settings: settings) { lab, board in
            _ = try await board.enroll(at: lab)
            let identifier = try #require(try await board.status { $0.isConnected }.registration.magIdentifier)
            try await board.ask("keys", "add", "partner")
            try await board.ask("storage", "save", "greeting", "hello")
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "uptime")
            let (file, exported) = try await export(board)
            #expect(exported.status == 0, "\(exported.errors)")
            let event = try await events.output.line(containing: "vault.exported")
            #expect(event.contains(#""withIdentity":false"#))
            let left = try names(exported, "leftOut")
            for name in ["device of ", "device-identity of ", "client-credentials of "] {
                #expect(left.contains { $0.hasPrefix(name) }, "\(name): \(left)")
            }
            #expect(!left.contains { $0.hasPrefix("configuration of ") }, "\(left)")
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: board.state.path).allSatisfy { name in
                    !name.contains("export")
                })

            try await withFreshBoard(settings: settings) { other in
                let restored = try await restore(file, on: other)
                #expect(restored.status == 0, "\(restored.errors)")
                #expect(try restored.json["keys"] as? Int == 0)
                try await startAgain(other)
                let status = try await other.status { $0.isConnected }
                #expect(try #require(status.registration.magIdentifier) != identifier)
                #expect(try await other.latchkey("storage", "find", "greeting").output == "hello")
                #expect(try await other.ask("keys", "list")["keys"] as? [String] ?? [] == [])
                #expect(await lab.devices().count == 2)
            }
            // The old one stays what it is.
            #expect(try await board.latchkey("call", "GET", "/lab/hello").status == 0)
        }
    }

    @Test("an export with the identity moves a registered board, with its keys, if the settings allow it")
    func withIdentity() async throws {
        try await withLabAndBoard(board: try movable(TestBoard())) { lab, board in
            _ = try await board.enroll(at: lab)
            let identifier = try #require(try await board.status { $0.isConnected }.registration.magIdentifier)
            try await board.ask("keys", "add", "partner")
            let (file, exported) = try await export(board, "--with-identity")
            #expect(exported.status == 0, "\(exported.errors)")
            #expect(try names(exported, "leftOut") == [])
            try await board.stop()
            try await withFreshBoard { other in
                let restored = try await restore(file, on: other)
                #expect(restored.status == 0, "\(restored.errors)")
                #expect(try #require(try restored.json["keys"] as? Int) >= 2)
                try await startAgain(other)
                let status = try await other.status { $0.isConnected }
                #expect(status.registration.magIdentifier == identifier)
                let call = try await other.latchkey("call", "GET", "/lab/hello")
                #expect(call.status == 0, "\(call.errors)")
                let listed = try await other.latchkey("keys", "list")
                #expect(listed.output.contains("partner"))
                #expect(await lab.devices().count == 1)
            }
        }
    }

    /// Changes the settings of a board, which does not run yet.
    private func movable(_ board: TestBoard, _ export: String = "with-identity") throws -> TestBoard {
        let settings = try String(contentsOf: board.configuration, encoding: .utf8)
        try settings.replacing("[vault]\n", with: "[vault]\nexport = \"\(export)\"\n")
            .write(to: board.configuration, atomically: true, encoding: .utf8)
        return board
    }

    @Test("an export is not made over a file, with a short passphrase, or against the settings")
    func exportRefused() async throws {
        let board = try TestBoard()
        try await board.start()
        let file = board.folder.appending(path: "precious")
        try Data("precious".utf8).write(to: file)
        let over = try await board.latchkey("vault", "export", file.path, "--json", input: Self.passphrase)
        #expect(try code(over) == "output.unwritable")
        #expect(try String(contentsOf: file, encoding: .utf8) == "precious")

        let new = board.folder.appending(path: "new").path
        let short = try await board.latchkey("vault", "export", new, "--json", input: "fifteen letters\n")
        #expect(try code(short) == "vault.passphrase-short")
        let (other, moving) = try await export(board, "--with-identity")
        #expect(try code(moving) == "vault.export-not-allowed")
        #expect(moving.status == 78)
        for path in [new, other] { #expect(!FileManager.default.fileExists(atPath: path)) }

        try await board.stop()
        _ = try movable(board, "off")
        try await board.start()
        let (third, off) = try await export(board)
        #expect(try code(off) == "vault.export-not-allowed")
        #expect(!FileManager.default.fileExists(atPath: third))
        try await board.tearDown()
    }

    @Test("an export is not restored with another passphrase, damaged, or over an account, and nothing changes")
    func restoreRefused() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            let (file, exported) = try await export(board)
            #expect(exported.status == 0, "\(exported.errors)")
            let used = try await restore(file, on: board)
            #expect(try code(used) == "vault.export-vault-in-use")
            #expect(try await board.status { $0.isConnected }.registration.magIdentifier != nil)

            try await withFreshBoard { other in
                let wrong = try await restore(file, on: other, passphrase: "another long passphrase")
                #expect(try code(wrong) == "vault.export-wrong-passphrase")
                #expect(wrong.errors.contains(file), "\(wrong.errors)")
                var bytes = try Data(contentsOf: URL(filePath: file))
                bytes[bytes.count - 40] ^= 1
                let damaged = other.folder.appending(path: "damaged")
                try bytes.write(to: damaged)
                #expect(try code(try await restore(damaged.path, on: other)) == "vault.export-damaged")
                try bytes.dropLast(10).write(to: damaged)
                #expect(try code(try await restore(damaged.path, on: other)) == "vault.export-cut-short")
                let none = try await restore("/etc/hostname", on: other)
                #expect(try code(none) == "vault.export-unknown")
                // It goes on as if nothing had been asked.
                #expect(try await other.status().registration.state == "unregistered")
                #expect(try await restore(file, on: other).status == 0)
            }
        }
    }

    @Test("an export that is not sent to its end keeps nobody from restoring another one")
    func givenUp() async throws {
        let board = try TestBoard()
        try await board.start()
        let (file, exported) = try await export(board)
        #expect(exported.status == 0, "\(exported.errors)")
        let asking = try RunningProgram(
            URL(filePath: "/usr/bin/curl"),
            [
                "-sN", "--unix-socket", board.socket, "http://localhost/v1/vault/restore", "-d",
                #"{"passphrase": "YSBsb25nIHBhc3NwaHJhc2U=", "bytes": 1000}"#,
            ])
        _ = try await asking.output.line(containing: "upload")
        #expect(try code(try await restore(file, on: board)) == "vault.export-in-progress")
        try await asking.stop(SIGKILL)
        var result = try await restore(file, on: board)
        while result.status == 75 { result = try await restore(file, on: board) }
        #expect(result.status == 0, "\(result.errors)")
        try await startAgain(board)
        try await board.tearDown()
    }

    @Test("a restored export leaves hosts that the board has already as they are")
    func hostsStay() async throws {
        let board = try TestBoard()
        try await board.start()
        for name in ["one.example", "two.example"] {
            try await board.ask("hosts", "add", name, "--public-authorities")
        }
        let (file, exported) = try await export(board)
        #expect(exported.status == 0, "\(exported.errors)")
        try await withFreshBoard { other in
            try await other.ask("hosts", "add", "three.example", "--public-authorities")
            let restored = try await restore(file, on: other)
            #expect(try names(restored, "leftOut").contains("hosts"), "\(restored.errors)")
            try await startAgain(other)
            let hosts = try await other.latchkey("hosts", "list").output
            #expect(hosts.contains("three.example") && !hosts.contains("one.example"), "\(hosts)")
        }
        try await withFreshBoard { other in
            #expect(try await restore(file, on: other).status == 0)
            try await startAgain(other)
            #expect(try await other.latchkey("hosts", "list").output.contains("two.example"))
        }
        try await board.tearDown()
    }

    @Test("a check of the store names a record of which one byte was changed, and a whole store has no fault")
    func verified() async throws {
        let board = try TestBoard()
        try await board.start()
        try await board.ask("hosts", "add", "one.example", "--public-authorities")
        let whole = try await board.latchkey("vault", "verify")
        #expect(whole.status == 0 && whole.output.hasPrefix("checked "), "\(whole)")
        #expect(try await board.ask("vault", "verify")["contentsChecked"] as? Bool == true)

        try await board.stop()
        let database = board.state.appending(path: "vault.db").path
        let copy = try await Program.shipped.run(["vault", "verify", database])
        #expect(copy.status == 0 && copy.output.contains("no record was opened"), "\(copy)")
        let flipped = try await Program.found.run([
            "sqlite3", database,
            """
            UPDATE record SET sealed = CAST(substr(sealed, 1, length(sealed) - 1)
                || CASE WHEN substr(sealed, -1) = x'00' THEN x'01' ELSE x'00' END AS BLOB)
            WHERE name = 'hosts'
            """,
        ])
        #expect(flipped.status == 0, "\(flipped.errors)")
        try await board.start()
        let events = try board.follow("status", "--follow")
        _ = try await events.output.line(containing: "uptime")
        let found = try await board.latchkey("vault", "verify", "--json")
        #expect(found.status == 78)
        let faults = try #require(try found.json["faults"] as? [[String: String]])
        #expect(faults.map { $0["fault"] } == ["record-damaged"])
        #expect(faults.first?["name"] == "hosts", "\(faults)")
        #expect(try await events.output.line(containing: "vault.damage-found").contains("record-damaged: hosts"))
        let lines = try await board.latchkey("vault", "verify").output
        #expect(lines.hasPrefix("record-damaged: hosts"), "\(lines)")
        try await board.tearDown()
    }

    @Test("a check of a copy says that the file is not a store")
    func notAStore() async throws {
        let missing = try await Program.shipped.run(["vault", "verify", "/nonexistent/vault.db"])
        #expect(missing.status != 0 && missing.errors.contains("/nonexistent/vault.db"), "\(missing.errors)")
        let other = try await Program.shipped.run(["vault", "verify", "/etc/hostname"])
        #expect(other.status != 0 && other.errors.contains("/etc/hostname"), "\(other.errors)")
    }
}
