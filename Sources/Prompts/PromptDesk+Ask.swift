import Groundwork

/// The asker's verdict on an answer.
public enum PromptVerdict<Value: Sendable>: Sendable {
    case right(Value)
    /// The question is asked again; if no attempt is left, `ask` throws this error.
    ///
    /// `attemptsLeft` is how many attempts are left if the asker knows better than the desk, which counts them.
    case wrong(any Error, fault: String, attemptsLeft: Int? = nil)
}

extension PromptDesk {
    /// Asks until the answer is right, no attempt is left, or there is no answer in time.
    ///
    /// The prompt is withdrawn if the calling task is canceled.
    ///
    /// - Parameters:
    ///   - patience: how long each attempt may take.
    ///   - onAsk: called each time that the question is asked.
    ///   - check: checks an answer, with the prompt's current state and the answerer. An error that it throws ends
    ///     `ask`.
    /// - Throws: ``PromptError/tooMany(kind:limit:)``, ``PromptError/declined(kind:by:)``,
    ///   ``PromptError/timedOut(kind:)``, `CancellationError`, what `check` throws, or the error of its last
    ///   ``PromptVerdict/wrong(_:fault:attemptsLeft:)``.
    public func ask<Value: Sendable>(
        _ question: PromptQuestion, patience: Duration, onAsk: @Sendable (Prompt) async -> Void = { _ in },
        check: @Sendable (PromptAnswer, Prompt, Answerer) async throws -> PromptVerdict<Value>
    ) async throws -> Value {
        let box = AsyncCondition<PromptOutcome?>(nil)
        var prompt = try open(question, patience: patience, isChecked: true) { outcome in box.change { $0 = outcome } }
        let id = prompt.id
        defer { close(id) }
        while true {
            await onAsk(prompt)
            let outcome = await withTaskCancellationHandler {
                await box.wait { $0.take() }
            } onCancel: {
                if end(id, as: .withdrawn) { box.change { $0 = .withdrawn } }
            }
            switch outcome {
            case .answered(let answer, let answerer):
                switch try await check(answer, try self.prompt(id), answerer) {
                case .right(let value): return value
                case .wrong(let error, let fault, let left):
                    guard let again = askAgain(id, fault: fault, attemptsLeft: left, patience: patience) else {
                        throw error
                    }
                    prompt = again
                }
            case .refused(let answerer): throw PromptError.declined(kind: question.kind, by: answerer.description)
            case .expired: throw PromptError.timedOut(kind: question.kind)
            case .withdrawn: throw CancellationError()
            }
        }
    }
}
