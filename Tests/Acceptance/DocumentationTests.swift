import Foundation
import TestSupport
import Testing

/// The pages of README.md, docs and Config against the programs: `deploy/docs --check`, and the tour of the README as
/// it is written.
@Suite("The documentation", .timeLimit(.minutes(15)))
struct DocumentationTests {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../Documentation").standardizedFileURL.path

    /// Runs Python on the tests of the documentation, and expects that they succeed.
    private func python(_ arguments: String..., within seconds: Double) async throws {
        let run = try RunningProgram(
            URL(filePath: "/usr/bin/python3"), ["-B"] + arguments,
            environment: ["LATCHKEY_PROGRAMS": Program.folder.path])
        let status = try await run.ended(within: seconds)
        #expect(status == 0, "\(run.output.text) \(run.errors.text)")
    }

    @Test("the documentation names only pages, commands, options, settings, errors and events that exist")
    func isTrue() async throws {
        try await python("-m", "unittest", "discover", "-s", Self.tests, within: 400)
    }

    @Test("deploy/docs checks the documentation and says how much it has checked")
    func check() async throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../deploy/docs").standardizedFileURL
        let run = try RunningProgram(script, ["--check", "--programs", Program.folder.path])
        #expect(try await run.ended(within: 400) == 0, "\(run.errors.text)")
        #expect(run.output.text.contains(/[0-9]{2,} pages and [0-9]{3,} commands are as they should be/))
    }

    @Test("each command of the documentation's tour prints what the page shows")
    func tour() async throws {
        try await python("\(Self.tests)/tour.py", Program.folder.path, within: 400)
    }
}
