import AgentCore
import Cryptography
import Groundwork
import LocalAPI
import MPin
import Prompts

/// What asks for a user's PIN by prompts, which the terminal, the console's page, a program and the keypad answer.
extension MPinFeature {
    /// How long each answer may take.
    private static let patience = Duration.seconds(180)

    func finish(_ user: MPinUserReference, pin: SecretBytes) async throws -> MPinUser {
        let finished = try await user.account.finish(user.id, pin: pin)
        host.report(MPinEvent.didRegister(user: user.id), of: user.name)
        return finished
    }

    func finishPrompted(
        _ user: MPinUserReference, answerers: PromptQuestion.Answerers, step: @escaping @Sendable (LocalEvent) -> Void
    ) async throws -> MPinUser {
        // Fail before prompting if the answer could not be used.
        try await user.account.requireConfirmed(user.id)
        let first = try await ask(user.question("New PIN of \(user.shown)", answerers), step) { .right($0) }
        let pin = try await ask(user.question("The same PIN again", answerers), step) { again in
            again == first ? .right(again) : .wrong(MPinPromptError.pinsDiffer, fault: "the two differ")
        }
        return try await finish(user, pin: pin)
    }

    func logInPrompted(
        _ user: MPinUserReference, _ login: MPinLoginRequest, answerers: PromptQuestion.Answerers,
        step: @escaping @Sendable (LocalEvent) -> Void
    ) async throws -> MPinLoginResult {
        try await kind.begin(user, login)
        return try await ask(user.question("PIN of \(user.shown)", answerers), step) { pin in
            do {
                return .right(try await kind.logIn(user, pin: pin, login))
            } catch {
                guard let fault = kind.faultOfSecret(error) else { throw error }
                return .wrong(error, fault: fault)
            }
        }
    }

    private func ask<Value: Sendable>(
        _ question: PromptQuestion, _ step: @escaping @Sendable (LocalEvent) -> Void,
        judge: @Sendable (SecretBytes) async throws -> PromptVerdict<Value>
    ) async throws -> Value {
        @Sendable func tell(_ event: PromptEvent) {
            step(LocalEvent(name: event.report.name, data: .object(event.report.fields)))
        }
        do {
            return try await host.prompts.ask(question, patience: Self.patience) {
                tell(.asked($0))
            } check: { answer, prompt, answerer in
                tell(.answered(prompt, by: answerer))
                guard case .text(let pin) = answer else { throw CancellationError() }
                return try await judge(pin)
            }
        } catch PromptError.declined {
            throw MPinError.pinInputCanceled
        }
    }
}
