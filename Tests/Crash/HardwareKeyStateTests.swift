import Foundation
import GatewayLab
import TestSupport
import Testing
import Vault

@Suite("Killed while a key in hardware is made or dropped", .timeLimit(.minutes(8)))
struct HardwareKeyStateTests {
    static let making: Set<String> = ["hardware-key-made", "hardware-key-stored"]
    static let dropping = "hardware-key-dropped"

    private static func board(_ chip: SoftwareTPM) throws -> TestBoard {
        try TestBoard(settings: "[tpm]\ntcti = \"\(chip.place)\"\n[identity]\nkey = \"tpm\"\n")
    }

    /// The keys of a stopped board that are in the chip.
    private func keys(of board: TestBoard) async throws -> [String] {
        let key = DevelopmentKeyFile(board.state.appending(path: "vault.key").path)
        let vault = try await Vault.open(
            at: board.state.appending(path: "vault.db").path, with: [key], creating: false)
        var keys: [String] = []
        for scope in try await vault.scopes() {
            keys += try await vault.names(scope: scope).map(\.name).filter { KeyReference($0)?.keeper == .tpm }
        }
        #expect(try await vault.faults().isEmpty)
        await vault.close()
        return keys
    }

    private func kill(_ board: TestBoard, at state: String, by command: [String]) async throws {
        let daemon = try #require(board.daemon)
        _ = try await Program(name: "latchkey").run(command + ["--socket", board.socket])
        #expect(try await daemon.ended() == 128 + SIGKILL)
        #expect(daemon.errors.text.contains("killed at \(state)\n"))
        board.environment = [:]
    }

    @Test("a board killed while a TPM makes its key registers afterwards, with one key", arguments: making.sorted())
    func made(state: String) async throws {
        let chip = try SoftwareTPM()
        let board = try Self.board(chip)
        board.environment = ["LATCHKEY_KILL_AT": state]
        try await withLabAndBoard(board: board) { lab, board in
            try await kill(board, at: state, by: ["enroll", try await lab.mintEnrollmentURL()])
            try await board.start()
            _ = try await board.status { $0.isConnected }
            #expect(try await board.status().registration.key == "tpm")
            try await board.stop()
            #expect(try await keys(of: board).count == 1)
        }
    }

    @Test("a board killed when its key in a TPM was dropped is not registered, and has no key")
    func dropped() async throws {
        let chip = try SoftwareTPM()
        try await withLabAndBoard(board: try Self.board(chip)) { lab, board in
            _ = try await board.enroll(at: lab)
            try await board.stop()
            board.environment = ["LATCHKEY_KILL_AT": Self.dropping]
            try await board.start()
            _ = try await board.status { $0.isConnected }
            try await kill(board, at: Self.dropping, by: ["deregister", "--yes"])
            #expect(try await keys(of: board).isEmpty)
            try await board.start()
            #expect(try await board.status().registration.state == "unregistered")
        }
    }
}
