import AgentCore
import Cryptography
import Gateway
import Groundwork
import Prompts

/// Asks people by prompts for the one-time passwords that a called API demands.
package struct OneTimePasswordPrompts: OneTimePasswordAsker {
    /// The attempts until the gateway says how many are left.
    private static let attempts = 3
    /// How long each question waits if the program of the call shows it to its user.
    package static let patienceOfPrograms = Duration.seconds(180)

    package let prompts: PromptDesk
    /// How long each question waits.
    package let patience: Duration
    package let answerers: PromptQuestion.Answerers
    /// Called for each question and each answer that is tried.
    package let report: @Sendable (PromptEvent) async -> Void

    package init(
        prompts: PromptDesk, patience: Duration, answerers: PromptQuestion.Answerers = .operators,
        report: @escaping @Sendable (PromptEvent) async -> Void = { _ in }
    ) {
        (self.prompts, self.patience, self.answerers, self.report) = (prompts, patience, answerers, report)
    }

    package func channel(of choices: [String], for call: ChallengedCall, isRepeated: Bool) async throws -> String {
        let text =
            isRepeated
            ? "The one-time password is too old; send another for \(call.target)?"
            : "How to send the one-time password for \(call.target)"
        let question = PromptQuestion(
            .choice, text, answerers: answerers, choices: choices, about: Self.subject(of: call))
        return try await ask(question, refused: MultiFactorError.channelCancelled) { answer in
            guard case .choice(let choice) = answer else { throw CancellationError() }
            return .right(choice)
        }
    }

    package func password(
        for call: ChallengedCall, sentBy channel: String?,
        check: @escaping @Sendable (String) async throws -> OneTimePasswordVerdict
    ) async throws {
        let way = channel.map { ", sent by \($0)" } ?? ""
        let question = PromptQuestion(
            .oneTimePassword, "One-time password for \(call.target)\(way)", answerers: answerers,
            attempts: Self.attempts, about: Self.subject(of: call))
        try await ask(question, refused: MultiFactorError.passwordCancelled) { answer in
            guard case .text(let text) = answer else { throw CancellationError() }
            return switch try await check(text.exposedText()) {
            case .settled: .right(())
            case .wrong(let attemptsLeft):
                .wrong(
                    MultiFactorError.wrong, fault: "the one-time password is wrong", attemptsLeft: attemptsLeft)
            }
        }
    }

    private func ask<Value: Sendable>(
        _ question: PromptQuestion, refused: (String) -> MultiFactorError,
        check: @escaping @Sendable (PromptAnswer) async throws -> PromptVerdict<Value>
    ) async throws -> Value {
        do {
            return try await prompts.ask(question, patience: patience) { prompt in
                await report(.asked(prompt))
            } check: { answer, prompt, answerer in
                await report(.answered(prompt, by: answerer))
                return try await check(answer)
            }
        } catch PromptError.declined(_, let answerer) {
            throw refused(answerer)
        } catch PromptError.timedOut {
            throw MultiFactorError.notProvided
        }
    }

    private static func subject(of call: ChallengedCall) -> PromptQuestion.Subject? {
        call.userName.map { .account(userName: $0) }
    }
}
