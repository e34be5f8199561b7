import Testing

@testable import latchkey

@Suite("A line typed at the terminal")
struct SecretLineTests {
    /// The next question comes at once after an answer elsewhere, and cancels this one again.
    @Test("a terminal prompt answered elsewhere says so, even if another question takes its place before")
    func canceledTwice() throws {
        let line = try SecretLine()
        line.cancel("answered elsewhere (somebody)")
        line.cancel()
        #expect(line.reason == "answered elsewhere (somebody)")
    }
}
