import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("JSON output of commands", .timeLimit(.minutes(8)))
struct CommandJSONTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    @Test("every JSON output of a command matches its schema, errors too, as an independent checker finds")
    func schemas() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            let schemas = Self.folder.deletingLastPathComponent().deletingLastPathComponent()
                .appending(path: "Config/cli-json.schema.json")
            let checked = try await Program.found.run([
                "python3", Self.folder.appending(path: "cli_json.py").path, Program(name: "latchkey").url.path,
                schemas.path, board.socket, board.configuration.path, board.folder.path,
            ])
            #expect(checked.status == 0, "\(checked.errors)")
        }
    }
}
