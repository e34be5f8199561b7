import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("What commands print for programs", .timeLimit(.minutes(8)))
struct CommandJSONTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    @Test("is as its schemas say, errors too; a checker that shares no code judges")
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
