import Cryptography
import Groundwork
import LocalAPI
import Prompts

extension Host {
    /// How long each attempt may take: the user may have to be fetched.
    private static let patience = Duration.seconds(180)

    /// Logs a user in by a secret that a prompt asks for. The prompt exists for as long as its events are read.
    ///
    /// - Throws: why no secret could be used now
    package func logInPrompted(
        by users: any AccountUsers, userName: String, answerers: PromptQuestion.Answerers, at name: AccountName
    ) async throws -> AsyncThrowingStream<LocalEvent, any Error> {
        let question = try await users.question(for: userName, at: name, answerers: answerers)
        return LocalEvent.steps("logged-in") { step in
            @Sendable func tell(_ event: PromptEvent) {
                step(LocalEvent(name: event.report.name, data: .object(event.report.fields)))
            }
            return try await self.prompts.ask(question, patience: Self.patience) {
                tell(.asked($0))
            } check: { answer, prompt, answerer in
                tell(.answered(prompt, by: answerer))
                guard case .text(let secret) = answer else { throw CancellationError() }
                do {
                    return .right(try await users.logIn(userName, secret, scope: nil, at: name))
                } catch {
                    // Any other failure would occur with every secret.
                    guard let fault = users.faultOfSecret(error) else { throw error }
                    return .wrong(error, fault: fault)
                }
            }
        }
    }
}

extension PromptQuestion {
    /// A question for a password, which may be corrected twice.
    package static func password(of userName: String, _ answerers: Answerers) -> PromptQuestion {
        PromptQuestion(
            .password, "Password of \(DisplayText.clean(userName))", answerers: answerers, attempts: 3,
            about: .account(userName: userName))
    }
}
