import Groundwork
import TestSupport
import Testing

/// One board is booted for all of these; each looks at its part of the log.
@Suite(
    "A keypad behind the kernel's input layer",
    .needsBoard,
    .timeLimit(.minutes(40)))
struct KeypadTests {
    private static let run = VirtualBoard.Run {
        try await VirtualBoard.log(of: "keypad", definition: "virtual-board") { VirtualBoard.withoutSensors($0) }
    }

    private func observed(_ name: String) async throws -> Int64? {
        try await Self.run.value.lines.last {
            $0["event"]?.string == "observed" && $0["name"]?.string == name
        }?["value"]?.integer
    }

    private func events(during step: String) async throws -> [String] {
        try await Self.run.value.during(step).compactMap { $0["event"]?.string }
    }

    @Test("the commands that a keypad answers succeed")
    func commands() async throws {
        for step in ["add", "new", "start", "confirm"] { #expect(try await observed(step) == 0, "\(step)") }
    }

    @Test("a keypad enters the PIN of a user, who is asked again after a wrong one, and may refuse")
    func entered() async throws {
        #expect(try await events(during: "wrong") == ["prompt.asked", "prompt.answered", "prompt.asked"])
        #expect(try await events(during: "right").filter { $0 != "observed" } == ["prompt.answered", "logged-in"])
        #expect(try await events(during: "refused").last == "error")
    }

    @Test("a keypad is the agent's alone while a PIN is asked for, and no log has the PIN")
    func alone() async throws {
        // The key that was pressed before.
        #expect(try await observed("others") == 1)
        // What grep says when it finds nothing.
        #expect(try await observed("secrets") == 1)
    }
}
