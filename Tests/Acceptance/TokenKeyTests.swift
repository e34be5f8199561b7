import Foundation
import GatewayLab
import TestSupport
import Testing

private let module = "/usr/lib/softhsm/libsofthsm2.so"

/// A board whose identity is on a PKCS#11 token: SoftHSM, whose token is a folder.
@Suite(
    "A key on a token", .timeLimit(.minutes(15)),
    .enabled(if: FileManager.default.fileExists(atPath: module), "SoftHSM is not installed"))
struct TokenKeyTests {
    private static let pin = "648219"

    /// Gives `body` a board with a new token, and its settings but for the identity.
    private func withToken(identity: String, _ body: (Lab, TestBoard) async throws -> Void) async throws {
        let board = try TestBoard(
            settings: """
                [pkcs11]
                module = "\(module)"
                uri = "pkcs11:token=board;object=store"
                pin_file = "PIN"
                [identity]
                key = "\(identity)"
                """)
        let (pin, tokens) = (board.folder.appending(path: "pin"), board.folder.appending(path: "tokens"))
        let configuration = board.folder.appending(path: "softhsm2.conf")
        try FileManager.default.createDirectory(at: tokens, withIntermediateDirectories: true)
        try "directories.tokendir = \(tokens.path)\n".write(to: configuration, atomically: true, encoding: .utf8)
        #expect(
            FileManager.default.createFile(
                atPath: pin.path, contents: Data(Self.pin.utf8), attributes: [.posixPermissions: 0o600]))
        let settings = try String(contentsOf: board.configuration, encoding: .utf8)
        try settings.replacing("\"PIN\"", with: "\"\(pin.path)\"")
            .write(to: board.configuration, atomically: true, encoding: .utf8)
        board.environment = ["SOFTHSM2_CONF": configuration.path]
        try await tool(
            board, "/usr/bin/softhsm2-util", "--init-token", "--free", "--label", "board", "--pin", Self.pin,
            "--so-pin", "87654321")
        try await withLabAndBoard(board: board, body)
    }

    @discardableResult
    private func tool(_ board: TestBoard, _ command: String...) async throws -> String {
        let result = try await Program.found.run(
            ["env", "SOFTHSM2_CONF=\(board.folder.path)/softhsm2.conf"] + command)
        guard result.status == 0 else { throw Unexpected("\(command): \(result.output) \(result.errors)") }
        return result.output
    }

    /// The private keys on the token, as another program lists them.
    private func privateKeys(_ board: TestBoard) async throws -> [String] {
        let list = try await tool(
            board, "pkcs11-tool", "--module", module, "--token-label", "board", "--login", "--pin", Self.pin,
            "--list-objects", "--type", "privkey")
        return list.components(separatedBy: "Private Key Object").dropFirst().map { String($0) }
    }

    @Test("a board with its key on a token registers, calls and starts again, and leaves nothing when it deregisters")
    func life() async throws {
        try await withToken(identity: "pkcs11") { lab, board in
            _ = try await board.enroll(at: lab)
            let before = try await board.status { $0.isConnected }
            #expect(before.registration.key == "pkcs11")
            let keys = try await privateKeys(board)
            #expect(keys.count == 1)
            #expect(keys.first?.contains("never extractable") == true && keys.first?.contains("latchkey ") == true)
            #expect(try await board.latchkey("renew").status == 0)
            try await board.stop()
            try await board.start()
            _ = try await board.status { $0.isConnected }
            #expect(try await board.latchkey("call", "/lab/signed", "--sign", "-d", "{}").status == 0)
            let doctor = try await board.latchkey("doctor").output
            #expect(doctor.contains("device-key: on a PKCS#11 token, and signs"), "\(doctor)")
            #expect(doctor.contains("token: board of SoftHSM project"), "\(doctor)")
            try await board.ask("deregister", "--yes")
            #expect(try await board.stop() == 0)
            #expect(try await privateKeys(board).isEmpty)
        }
    }

    @Test("a key that is on the token already is taken by its URI, and stays when the board deregisters")
    func existing() async throws {
        try await withToken(identity: "pkcs11:token=board;object=mine") { lab, board in
            try await tool(
                board, "pkcs11-tool", "--module", module, "--token-label", "board", "--login", "--pin", Self.pin,
                "--keypairgen", "--key-type", "RSA:2048", "--usage-sign", "--label", "mine", "--id", "07")
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            try await board.ask("deregister", "--yes")
            try await board.stop()
            #expect(try await privateKeys(board).count == 1)
        }
    }

    @Test("a slot on a token is added without its PIN, and opens the store with it; a wrong PIN is offered once")
    func slot() async throws {
        try await withToken(identity: "software") { lab, board in
            try await tool(
                board, "pkcs11-tool", "--module", module, "--token-label", "board", "--login", "--pin", Self.pin,
                "--keypairgen", "--key-type", "EC:prime256v1", "--usage-derive", "--label", "store", "--id", "01")
            #expect(try await board.latchkey("vault", "add", "--kind", "pkcs11").status == 0)
            #expect(try await board.latchkey("vault", "test", "2").status == 0)
            try await board.stop()
            try board.dropIn("10-slot.toml", "[vault]\nslot = \"pkcs11\"\n")
            try await board.start()
            #expect(try await board.latchkey("vault", "remove", "1").status == 0)
            try await board.stop()

            let pin = board.folder.appending(path: "pin").path
            try Data("000000".utf8).write(to: URL(filePath: pin))
            chmod(pin, 0o600)
            for refusal in ["the PIN of token board is wrong", "token board refused this PIN before"] {
                let waiting = try board.launch()
                #expect(try await waiting.errors.line(containing: "waiting: ").contains(refusal))
                try await board.stop()
            }
            try Data(Self.pin.utf8).write(to: URL(filePath: pin))
            chmod(pin, 0o600)
            try await board.start()
            let slots = try await board.ask("vault", "slots")["slots"] as? [[String: Any]]
            #expect(slots?.compactMap { $0["kind"] as? String } == ["pkcs11"])
        }
    }
}
