import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentMessages

@Suite("Lines as messages")
struct MessageLinesTests {
    private func split(_ text: String) throws(AgentError) -> [String] {
        try MessageLines.split(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "each line of a body is a message without its end, even the last without one",
        arguments: [
            ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("\n", [""]), ("a\n\nb\n", ["a", "", "b"]),
            ("a\r\nb\r", ["a", "b\r"]), ("\r\n", [""]),
        ])
    func lines(text: String, expected: [String]) throws {
        #expect(try split(text) == expected)
    }

    @Test("a body with more lines than allowed is refused, however short they are")
    func bound() throws {
        #expect(try split(String(repeating: "\n", count: MessageLines.limit)).count == MessageLines.limit)
        #expect(throws: AgentError.badRequest(member: "the body", fault: "has more than \(MessageLines.limit) lines")) {
            try split(String(repeating: "\n", count: MessageLines.limit + 1))
        }
    }
}
