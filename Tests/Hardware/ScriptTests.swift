import Foundation
import TestSupport
import Testing

/// The scripts that run on the virtual board; what is tested here needs no board.
@Suite("A script on the virtual board")
struct ScriptTests {
    private static let steps = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Scripts/steps.sh").path

    @Test("ends when it has waited in vain three times, and says for what, in place of waiting for all the rest too")
    func givesUp() async throws {
        let log = FileManager.default.temporaryDirectory.appending(path: "steps-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: log) }
        let script = """
            . \(Self.steps)
            patience=2 pause=0
            until_true first false
            until_true met true
            until_true second false || observe went-on 1
            until_true third false
            step never
            """
        let ended = try await Program(url: URL(filePath: "/bin/sh")).run(
            ["-c", script], environment: ["LOG": log.path, "PROGRAMS": "/nonexistent"])
        #expect(ended.status == 1)
        let names = ended.output.split(separator: "\n").map(String.init)
        #expect(names == [
            #"{"event":"missed","name":"first"}"#, #"{"event":"missed","name":"second"}"#,
            #"{"event":"observed","name":"went-on","value":1}"#, #"{"event":"missed","name":"third"}"#,
        ])
        #expect(ended.errors.contains("gave up after") && ended.errors.contains("third"))
    }
}
