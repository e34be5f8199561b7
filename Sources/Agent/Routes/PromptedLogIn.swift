import Cryptography
import Gateway
import Groundwork
import LocalAPI
import Prompts

/// Login by a password that a prompt asks for.
extension Agent {
    private static let attempts = 3
    /// How long each attempt may take: the user may have to be fetched.
    private static let patience = Duration.seconds(180)

    /// The prompt exists for as long as its events are read.
    nonisolated func logInPrompted(
        as userName: String, answerers: PromptQuestion.Answerers, at session: GatewaySession
    ) -> AsyncThrowingStream<LocalEvent, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
            @Sendable func step(_ event: PromptEvent) {
                let report = event.report
                continuation.yield(LocalEvent(name: report.name, data: .object(report.fields)))
            }
            let question = PromptQuestion(
                .password, "Password of \(DisplayText.clean(userName))", answerers: answerers,
                attempts: Self.attempts, about: .account(userName: userName))
            let logIn = Task {
                do {
                    let user = try await prompts.ask(question, patience: Self.patience) {
                        step(.asked($0))
                    } check: { answer, prompt, answerer in
                        step(.answered(prompt, by: answerer))
                        return try await session.judge(answer, of: userName)
                    }
                    continuation.yield(LocalEvent(name: "logged-in", data: user.json(at: time.now)))
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in logIn.cancel() }
        }
    }
}

extension GatewaySession {
    /// Tries the password. A wrong one may be entered again; any other failure would occur with every password.
    fileprivate func judge(_ answer: PromptAnswer, of userName: String) async throws -> PromptVerdict<UserStatus> {
        guard case .text(let password) = answer else { throw CancellationError() }
        do {
            return .right(try await logIn(userName: userName, password: password))
        } catch let error as GatewayError {
            guard case .refused(let refusal) = error, refusal.meaning == .userCredentialsInvalid else { throw error }
            return .wrong(error, fault: error.message)
        }
    }
}
