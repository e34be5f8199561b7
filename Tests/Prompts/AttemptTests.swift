import Cryptography
import TestSupport
import Testing

@testable import Prompts

@Suite("Attempts that another counts", .timeLimit(.minutes(5)))
struct AttemptTests {
    private struct Wrong: Error {}

    @Test("attempts that the asker counts are shown as it says, even beyond the desk's own, and end at zero")
    func counted() async throws {
        let (desk, seen) = (PromptDesk(clock: ManualClock()), Log<Prompt>())
        let question = PromptQuestion(.oneTimePassword, "One-time password", attempts: 1)
        let asking = Task {
            let left = Log<Int>()
            return try await desk.ask(question, patience: .seconds(60)) {
                seen.append($0)
            } check: { _, _, _ -> PromptVerdict<Void> in
                left.append(1)
                return .wrong(Wrong(), fault: "wrong", attemptsLeft: 3 - left.entries.count)
            }
        }
        for attempt in 1...3 {
            try await seen.wait(attempt) { _ in true }
            try desk.answer(1, .text(SecretBytes(utf8: "x")), by: .user("alice"), uid: 0)
        }
        await #expect(throws: Wrong.self) { try await asking.value }
        #expect(seen.entries.map(\.attemptsLeft) == [1, 2, 1])
    }
}
