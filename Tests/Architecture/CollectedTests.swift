import Foundation
import TestSupport
import Testing

@Suite("The output that a test waits for")
struct CollectedTests {
    @Test("half a line is not taken for a line, but can be waited for")
    func halfLine() async throws {
        let output = Collected()
        output.append(Data("begun\nport 47".utf8))
        try await output.wait(for: "port 4")
        await #expect(throws: Unexpected.self) { try await output.line(containing: "port", within: 0.1) }
        await #expect(throws: Unexpected.self) { try await output.lines(2, within: 0.1) { _ in true } }
        output.append(Data("11\n".utf8))
        #expect(try await output.line(containing: "port") == "port 4711")
        #expect(try await output.lines(2) { _ in true } == ["begun", "port 4711"])
    }

    @Test("what has no newline at its end is a line once nothing more can come")
    func lastLine() async throws {
        let output = Collected()
        output.append(Data("port 4711".utf8))
        let waiting = Task { try await output.line(containing: "port") }
        output.finish()
        #expect(try await waiting.value == "port 4711")
        #expect(try await output.lines(1) { _ in true } == ["port 4711"])
        await #expect(throws: Unexpected.self) { try await output.wait(for: "gate") }
    }
}
