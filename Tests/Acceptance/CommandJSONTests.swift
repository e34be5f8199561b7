import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("JSON output of commands", .timeLimit(.minutes(8)))
struct CommandJSONTests {
    private static let temporary = #"{"error":{"code":"a.b","kind":"temporary","message":"m"}}"#
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    private static func script(_ name: String) -> String {
        folder.appending(path: "../../deploy/\(name)").standardizedFileURL.path
    }

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

    @Test(
        "what no schema describes is found when all tests have ended",
        arguments: [
            (#"["token"]"#, 0, [#"{"revoked":true}"#], "", nil), (#"["inbox","ack"]"#, 0, [#"{"removed":1}"#], "", nil),
            (#"["inbox","ack"]"#, 0, [#"{"removed":"1"}"#], "", "$.removed: '1' is not of type 'integer'"),
            (#"["inbox","ack"]"#, 0, ["acknowledged"], "", "prints what is not JSON"),
            (#"["renew"]"#, 75, [], temporary, nil), (#"["renew"]"#, 1, [], temporary, "exit status 1, not 75"),
            (#"["renew"]"#, 1, [], #"{"error":{"code":"a.b","message":"m"}}"#, "'kind' is a required property"),
            (#"["renew"]"#, 1, [], "latchkey: it failed", "no error in JSON"),
        ] as [(String, Int, [String], String, String?)])
    func undescribed(words: String, status: Int, lines: [String], error: String, fault: String?) async throws {
        let folder = URL(filePath: "/tmp/lk-printed-\(UInt32.random(in: .min ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let record: [String: Any] = [
            "words": try JSONSerialization.jsonObject(with: Data(words.utf8)), "status": status, "lines": lines,
            "error": error,
        ]
        try (JSONSerialization.data(withJSONObject: record) + Data("\n".utf8))
            .write(to: folder.appending(path: "1.printed"))
        let document = folder.appending(path: "openapi.json")
        let described = try await Program.found.run([
            Self.script("openapi"), "--programs", Program(name: "latchkey").url.deletingLastPathComponent().path,
        ])
        try described.output.write(to: document, atomically: true, encoding: .utf8)
        let checked = try await Program.found.run([Self.script("check-answers"), folder.path, document.path])
        #expect(checked.status == (fault == nil ? 0 : 1), "\(checked.errors)")
        #expect(fault.map(checked.errors.contains) ?? checked.errors.isEmpty, "\(checked.errors)")
    }
}
