import Foundation
import GatewayLab
import TestSupport
import Testing

/// A board whose identity is in a TPM: swtpm, whose chip is a process.
@Suite("A key in hardware", .timeLimit(.minutes(15)))
struct HardwareKeyTests {
    /// Settings of a board with this chip.
    private static func settings(_ chip: SoftwareTPM) -> String {
        """
        [tpm]
        tcti = "\(chip.place)"
        [identity]
        key = "tpm"
        """
    }

    private func withRegistered(_ body: (Lab, TestBoard, SoftwareTPM) async throws -> Void) async throws {
        let chip = try SoftwareTPM()
        try await withLabAndBoard(settings: Self.settings(chip)) { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            try await body(lab, board, chip)
        }
    }

    private func verdict(_ board: TestBoard, _ check: String) async throws -> [String: String] {
        let report = try await board.latchkey("doctor", "--json").json
        let checks = try #require(report["checks"] as? [[String: Any]])
        let found = try #require(checks.first { $0["name"] as? String == check })
        return found.compactMapValues { $0 as? String }
    }

    @Test("a board with its key in a TPM registers, renews, publishes, calls and signs, and starts again")
    func life() async throws {
        try await withRegistered { lab, board, chip in
            let before = try await board.status()
            #expect(before.registration.key == "tpm")
            #expect(try await verdict(board, "device-key")["verdict"] == "pass")
            #expect(try await board.latchkey("renew").status == 0)
            #expect(try await board.latchkey("publish", "data", "21.5").status == 0)
            _ = try await board.drained()
            #expect(try await board.latchkey("call", "GET", "/lab/hello").status == 0)
            #expect(try await board.latchkey("call", "/lab/signed", "--sign", "-d", "{}").status == 0)
            try await board.stop()
            try await board.start()
            let after = try await board.status { $0.isConnected }
            #expect(after.registration.magIdentifier == before.registration.magIdentifier)
            #expect(after.registration.key == "tpm")
            #expect(try await board.latchkey("call", "GET", "/lab/hello").status == 0)
        }
    }

    @Test("a board whose chip is not there says so, keeps what it publishes, and goes on when it is back")
    func absent() async throws {
        try await withRegistered { lab, board, chip in
            try await board.stop()
            chip.stop()
            try await board.start()
            let found = try await verdict(board, "device-key")
            #expect(found["verdict"] == "fail")
            #expect(found["message"]?.contains("there is no TPM at swtpm:") == true, "\(found)")
            let refused = try await board.latchkey("renew", "--json")
            #expect(refused.errors.contains("cannot sign: there is no TPM at swtpm:"), "\(refused.errors)")
            #expect(refused.errors.contains("check that the board has a TPM 2.0"), "\(refused.errors)")
            #expect(try await board.latchkey("publish", "data", "21.5").status == 0)
            try chip.start()
            _ = try await board.status { $0.isConnected }
            _ = try await board.drained()
            #expect(try await verdict(board, "device-key")["verdict"] == "pass")
        }
    }

    @Test("a board in another board's chip refuses, and names the reason")
    func otherChip() async throws {
        let other = try SoftwareTPM()
        try await withRegistered { lab, board, chip in
            try await board.stop()
            try board.dropIn("10-chip.toml", "[tpm]\ntcti = \"\(other.place)\"\n")
            try await board.start()
            let found = try await verdict(board, "device-key")
            #expect(found["verdict"] == "fail")
            #expect(found["message"]?.contains("another TPM") == true, "\(found)")
        }
    }

    @Test("a store that a TPM opens waits for its chip, and opens by itself; another chip never opens it")
    func slot() async throws {
        let (chip, other) = (try SoftwareTPM(), try SoftwareTPM())
        let board = try TestBoard(settings: Self.settings(chip))
        try board.dropIn("10-slot.toml", "[vault]\nslot = \"tpm\"\n")
        do {
            try await board.start()
            let slots = try await board.ask("vault", "slots")["slots"] as? [[String: Any]]
            #expect(slots?.compactMap { $0["kind"] as? String } == ["tpm"])
            #expect(try await board.ask("vault", "test", "1")["kind"] as? String == "tpm")
            try await board.stop()
            chip.stop()
            let waiting = try board.launch()
            _ = try await waiting.errors.line(containing: "waiting: there is no TPM at swtpm:")
            #expect(try await board.latchkey("vault", "slots", "--json").errors.contains("tpm.absent"))
            try chip.start()
            _ = try await waiting.errors.line(containing: "agent: ready")
            try await board.stop()
            try board.dropIn("20-chip.toml", "[tpm]\ntcti = \"\(other.place)\"\n")
            let refused = try board.launch()
            #expect(try await refused.ended() == 78)
            #expect(refused.errors.text.contains("another TPM"))
            #expect(FileManager.default.fileExists(atPath: board.state.appending(path: "vault.db").path))
        } catch {
            let failure = board.withLastWords(error)
            try await board.tearDown()
            throw failure
        }
        try await board.tearDown()
    }

    @Test("of several kinds of slots, the next one opens the store, and an event says so")
    func several() async throws {
        let chip = try SoftwareTPM()
        let board = try TestBoard(settings: Self.settings(chip))
        try board.dropIn("10-slot.toml", "[vault]\nslot = [\"tpm\", \"development-key-file\"]\n")
        do {
            try await board.start()
            let slots = try await board.ask("vault", "slots")["slots"] as? [[String: Any]]
            #expect(slots?.compactMap { $0["kind"] as? String } == ["tpm", "development-file"])
            #expect(try await board.latchkey("vault", "remove", "1", "--json").errors.contains("slot-in-use"))
            try await board.stop()
            chip.stop()
            let daemon = try board.launch()
            _ = try await daemon.errors.line(containing: "vault.slot-opened")
            _ = try await daemon.errors.line(containing: "agent: ready")
            let refused = try await board.latchkey("vault", "remove", "1", "--json")
            #expect(refused.errors.contains("vault.only-development-slots"))
            #expect(try await board.latchkey("vault", "remove", "1", "--force").status == 0)
        } catch {
            let failure = board.withLastWords(error)
            try await board.tearDown()
            throw failure
        }
        try await board.tearDown()
    }
}
