import Foundation
import TestSupport
import Testing

/// A board whose TPM has a counter for its sealed store: swtpm, whose chip is a process.
@Suite("An earlier copy of the sealed store", .timeLimit(.minutes(8)))
struct RollbackTests {
    private func withBoard(_ rollback: String?, _ body: (TestBoard, SoftwareTPM) async throws -> Void) async throws {
        let chip = try SoftwareTPM()
        let settings = "[tpm]\ntcti = \"\(chip.place)\"\n[identity]\nkey = \"tpm\"\n"
        let board = try TestBoard(settings: settings)
        if let rollback { try board.dropIn("10-rollback.toml", "[vault]\nrollback = \"\(rollback)\"\n") }
        do {
            try await body(board, chip)
        } catch {
            let failure = board.withLastWords(error)
            try await board.tearDown()
            throw failure
        }
        try await board.tearDown()
    }

    private func verdict(_ board: TestBoard) async throws -> String? {
        let checks = try await board.latchkey("doctor", "--json").json["checks"] as? [[String: Any]]
        return checks?.first { $0["name"] as? String == "vault-rollback" }?["verdict"] as? String
    }

    /// Has the board count once more, and puts the store from before back. The board is stopped then.
    private func putBack(_ board: TestBoard) async throws {
        let (store, copy) = (board.state.appending(path: "vault.db"), board.state.appending(path: "copy.db"))
        try await board.start()
        #expect(try await verdict(board) == "pass")
        try await board.stop()
        try FileManager.default.copyItem(at: store, to: copy)
        try await board.start()
        #expect(try await board.latchkey("vault", "rekey").status == 0)
        #expect(try await verdict(board) == "pass")
        try await board.stop()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + suffix) }
        try FileManager.default.moveItem(at: copy, to: store)
    }

    @Test("a board whose store was put back reports that and goes on, until root accepts it")
    func reported() async throws {
        try await withBoard(nil) { board, _ in
            try await putBack(board)
            let daemon = try board.launch()
            _ = try await daemon.errors.line(containing: "vault.rolled-back")
            #expect(try await verdict(board) == "fail")
            #expect(try await board.latchkey("vault", "slots").status == 0)
            #expect(try await board.ask("vault", "accept-rollback", "--yes")["guarded"] as? Bool == true)
            #expect(try await verdict(board) == "pass")
        }
    }

    @Test("a board that refuses an earlier copy of its store waits for root, and goes on by itself then")
    func refused() async throws {
        try await withBoard("refuse") { board, _ in
            try await putBack(board)
            let daemon = try board.launch()
            _ = try await daemon.errors.line(containing: "waiting: the sealed store is an earlier copy")
            #expect(try await board.latchkey("vault", "slots", "--json").errors.contains("vault.rolled-back"))
            #expect(try await verdict(board) == "fail")
            #expect(try await board.latchkey("vault", "accept-rollback", "--yes").status == 0)
            _ = try await daemon.errors.line(containing: "agent: ready")
            #expect(try await verdict(board) == "pass")
        }
    }

    @Test("a board that refuses earlier copies waits for a TPM that is not there, and goes on when it is back")
    func absent() async throws {
        try await withBoard("refuse") { board, chip in
            try await board.start()
            try await board.stop()
            chip.stop()
            let daemon = try board.launch()
            _ = try await daemon.errors.line(containing: "waiting: there is no TPM")
            try chip.start()
            _ = try await daemon.errors.line(containing: "agent: ready")
            #expect(try await verdict(board) == "pass")
        }
    }

    @Test("a board that reports earlier copies does not wait for its TPM, and its counter is removed when turned off")
    func off() async throws {
        try await withBoard(nil) { board, chip in
            func counters() throws -> Int {
                String(decoding: try chip.capabilities("handles-nv-index"), as: UTF8.self)
                    .matches(of: /(?i)0x181[0-9a-f]{4}/).count
            }
            try await board.start()
            #expect(try await verdict(board) == "pass")
            #expect(try counters() == 1)
            try await board.stop()
            chip.stop()
            try await board.start()
            #expect(try await verdict(board) == "warn")
            try await board.stop()
            try chip.start()
            try board.dropIn("20-off.toml", "[vault]\nrollback = \"off\"\n")
            try await board.start()
            while try counters() > 0 { try await Task.sleep(for: .milliseconds(50)) }
            #expect(try await board.ask("vault", "accept-rollback", "--yes")["guarded"] as? Bool == false)
        }
    }
}
