import AgentCore
import Board
import Cryptography
import Groundwork
import Prompts

/// Answers questions for a PIN with what is typed on the board's keypad, which is open only while one waits.
struct KeypadService: Sendable {
    let keypad: Keypad
    let prompts: PromptDesk

    /// Returns when nothing will be asked any more.
    ///
    /// - Throws: `BoardError.keypadFailed(path:reason:)` when a PIN is asked for and the keypad cannot be read.
    func run() async throws {
        while true {
            // Subscribed first, so that no question is missed.
            let events = prompts.events.subscribe()
            guard let question else {
                var isAsked = false
                for await _ in events where self.question != nil {
                    isAsked = true
                    break
                }
                guard isAsked else { return }
                continue
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask { try await answer(question) }
                // Another answer, the end of its time, or the same again after a wrong answer: it is typed anew.
                group.addTask { for await _ in events where !question.isSame(as: self.question) { return } }
                try await group.next()
            }
            try Task.checkCancellation()
        }
    }

    /// The oldest question for a PIN. One that only a certain user may answer is not for everyone at the keypad.
    var question: Prompt? {
        prompts.prompts.first { prompt in
            guard case .operators = prompt.question.answerers else { return false }
            return prompt.question.kind == .pin && prompt.state == .waiting
        }
    }

    private func answer(_ question: Prompt) async throws {
        let entry: Keypad.Entry
        do {
            entry = try await keypad.entry()
        } catch is CancellationError {
            return
        }
        do {
            switch entry {
            case .digits(let digits):
                try prompts.answer(question.id, .text(SecretBytes(digits)), by: .program("keypad"), uid: 0)
            case .refused: try prompts.refuse(question.id, by: .program("keypad"), uid: 0)
            }
        } catch {
            // Another answer was faster.
        }
    }
}

extension Prompt {
    fileprivate func isSame(as other: Prompt?) -> Bool { id == other?.id && attemptsLeft == other?.attemptsLeft }
}
