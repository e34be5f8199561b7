import Cryptography
import Groundwork
import LocalAPI
import MPin
import Prompts

/// What takes a user's PIN: given with a request, or by prompts, which the terminal, the console's page, a program and
/// the keypad answer.
extension Agent {
    /// How often a PIN may be corrected; the back end counts wrong ones for itself.
    private static let attempts = 3
    /// How long each answer may take.
    private static let patience = Duration.seconds(180)

    // MARK: Choosing

    nonisolated func finishMPin(_ person: MPinPerson, pin: SecretBytes) async throws -> MPinUser {
        let user = try await person.account.finish(person.id, pin: pin)
        report(MPinEvent.didRegister(user: person.id), of: person.name)
        return user
    }

    nonisolated func finishMPinPrompted(
        _ person: MPinPerson, answerers: PromptQuestion.Answerers, step: @escaping @Sendable (LocalEvent) -> Void
    ) async throws -> MPinUser {
        // Nobody is asked in vain.
        try await person.account.requireConfirmed(person.id)
        let first = try await askPIN("New PIN of \(person.shown)", person, answerers, step) { .right($0) }
        let pin = try await askPIN("The same PIN again", person, answerers, step) { again in
            again == first ? .right(again) : .wrong(MPinPromptError.pinsDiffer, fault: "the two differ")
        }
        return try await finishMPin(person, pin: pin)
    }

    // MARK: Logging in

    /// All of a login that comes before the PIN.
    nonisolated func beginMPinLogIn(_ person: MPinPerson, _ wish: MPinWish) async throws {
        do {
            try await person.account.begin(person.id, wish)
        } catch let error as MPinError {
            report(MPinEvent.didFailToLogIn(user: person.id, error), of: person.name)
            throw error
        }
    }

    nonisolated func logInByMPin(
        _ person: MPinPerson, pin: SecretBytes, _ wish: MPinWish
    ) async throws -> MPinLoggedIn {
        do {
            let loggedIn = try await person.account.logIn(person.id, pin: pin, wish)
            report(MPinEvent.didLogIn(user: person.id, by: wish.way), of: person.name)
            return loggedIn
        } catch let error as MPinError {
            report(MPinEvent.didFailToLogIn(user: person.id, error), of: person.name)
            if case .blocked = error { report(MPinEvent.didBlock(user: person.id), of: person.name) }
            throw error
        }
    }

    nonisolated func logInByMPinPrompted(
        _ person: MPinPerson, _ wish: MPinWish, answerers: PromptQuestion.Answerers,
        step: @escaping @Sendable (LocalEvent) -> Void
    ) async throws -> MPinLoggedIn {
        try await beginMPinLogIn(person, wish)
        return try await askPIN("PIN of \(person.shown)", person, answerers, step) { pin in
            do {
                return .right(try await self.logInByMPin(person, pin: pin, wish))
            } catch let error as MPinError {
                switch error {
                case .incorrectPIN: return .wrong(error, fault: "the PIN is wrong")
                case .pinNotPrintable: return .wrong(error, fault: error.message)
                default: throw error
                }
            }
        }
    }

    private nonisolated func askPIN<Value: Sendable>(
        _ text: String, _ person: MPinPerson, _ answerers: PromptQuestion.Answerers,
        _ step: @escaping @Sendable (LocalEvent) -> Void,
        judge: @Sendable (SecretBytes) async throws -> PromptVerdict<Value>
    ) async throws -> Value {
        @Sendable func tell(_ event: PromptEvent) {
            step(LocalEvent(name: event.report.name, data: .object(event.report.fields)))
        }
        let question = PromptQuestion(
            .pin, text, answerers: answerers, attempts: Self.attempts, about: .account(userName: person.id))
        do {
            return try await prompts.ask(question, patience: Self.patience) {
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
