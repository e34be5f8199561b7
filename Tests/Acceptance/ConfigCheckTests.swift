import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("latchkey config check", .timeLimit(.minutes(8)))
struct ConfigCheckTests {
    @Test(
        "latchkey config check finds what run refuses, and with --syntax-only checks only the file",
        arguments: [
            ("[api]\noperate = [\"nobody-of-this-name\"]", "nobody-of-this-name does not exist"),
            ("[bluetooth]\nadapter = \"hci99\"\n[api]", "there is no Bluetooth adapter hci99"),
        ])
    func machine(settings: String, fault: String) async throws {
        let (board, program) = (try TestBoard(), Program(name: "latchkey"))
        let file = board.configuration.path
        try String(contentsOf: board.configuration, encoding: .utf8).replacing("[api]", with: settings)
            .write(to: board.configuration, atomically: true, encoding: .utf8)
        let check = try await program.run(["config", "check", file])
        #expect(check.status == 78)
        #expect(check.output.contains(fault), "\(check.output)")
        #expect(try await program.run(["config", "check", "--syntax-only", file]).status == 0)
        // An adapter may be plugged in later, so the agent starts without it.
        if settings.hasPrefix("[api]") { #expect(try await program.run(["run", "--config", file]).status == 78) }
        try await board.tearDown()
    }

    @Test("latchkey config check finds a board definition that is not there")
    func definition() async throws {
        let board = try TestBoard(definition: "nope")
        let check = try await Program(name: "latchkey").run(["config", "check", board.configuration.path])
        #expect(check.status == 78)
        #expect(check.output.contains("no board definition nope"))
        try await board.tearDown()
    }

    @Test("latchkey config check notes an endpoint of a gateway's document that lacks its leading slash")
    func endpoint() async throws {
        try await withLabAndBoard { lab, board in
            let document = String(decoding: try await lab.configurationDocument(), as: UTF8.self)
            let path = try #require(document.firstMatch(of: /"token_endpoint_path":\s*"\/([^"]*)"/))
            let changed = document.replacing(path.0, with: "\"token_endpoint_path\": \"\(path.1)\"")
            let file = board.folder.appending(path: "msso_config.json")
            try changed.write(to: file, atomically: true, encoding: .utf8)
            let check = try await Program(name: "latchkey").run(["config", "check", file.path])
            #expect(check.status == 0)
            #expect(check.output.contains("token_endpoint_path does not begin with /"), "\(check.output)")
            #expect(check.output.contains("write /\(path.1)"))
        }
    }

    @Test(
        "a state directory of another user is refused by run, and left as it is, also as root",
        .enabled(if: getuid() == 0, "only root gives files away"))
    func ofOther() async throws {
        let board = try TestBoard()
        #expect(chown(board.state.path, 1, 1) == 0)
        let refused = try await Program(name: "latchkey").run(["run", "--config", board.configuration.path])
        #expect(refused.status == 78)
        #expect(refused.errors.contains("it belongs to user daemon, and this agent runs as user root"))
        #expect(refused.errors.contains("systemctl start latchkey"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: board.state.path) == [])
        try await board.tearDown()
    }
}
