import AgentCore
import Cryptography
import Gateway
import Groundwork
import Prompts

/// Asks people to log in when a call needs a user. All calls of one session wait for the same question, which any login
/// answers: one by the prompt, by another device, or in a browser.
package struct LoginOnDemand: Sendable {
    private static let attempts = 3

    package let prompts: PromptDesk
    /// How long each attempt may take.
    package let patience: Duration
    private let asking = SingleFlight<String?>()

    private init(prompts: PromptDesk, patience: Duration) { (self.prompts, self.patience) = (prompts, patience) }

    /// - Parameter patience: `nil` if no user is asked.
    package static func demand(by prompts: PromptDesk, patience: Duration?) -> UserDemand? {
        guard let patience else { return nil }
        let onDemand = LoginOnDemand(prompts: prompts, patience: patience)
        return { session, userName in try await onDemand.logIn(at: session, as: userName) }
    }

    /// Returns once a user is logged in, or the session has ended.
    ///
    /// - Parameter userName: the user who has to come back; `nil` for any user.
    /// - Throws: `PromptError`, `GatewayError`, `CancellationError`
    package func logIn(at session: GatewaySession, as userName: String?) async throws {
        try await asking.join(userName) { _ in try await ask(at: session, as: userName) }
    }

    private func ask(at session: GatewaySession, as userName: String?) async throws {
        // Subscribed first, so that no login is missed.
        let events = session.events.subscribe()
        guard try await session.user() == nil else { return }
        let question = PromptQuestion(
            .logIn,
            userName.map { "\(DisplayText.clean($0)) must log in again" } ?? "A program needs a user to log in",
            attempts: Self.attempts, about: userName.map { .account(userName: $0) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                _ = try await prompts.ask(question, patience: patience) { answer, _, _ in
                    try await session.judgeLogin(by: answer)
                }
            }
            group.addTask {
                for await event in events { if case .userDidAuthenticate = event { return } }
            }
            try await group.next()
        }
    }
}

extension GatewaySession {
    /// Tries to log in. After a wrong password or code there may be another answer; any other failure would occur
    /// again.
    fileprivate func judgeLogin(by answer: PromptAnswer) async throws -> PromptVerdict<UserStatus> {
        do {
            switch answer {
            case .credentials(let userName, let password):
                return .right(try await logIn(userName: userName, password: password))
            case .code(let code, let verifier, let redirectURI):
                let handed = try HandedCode(
                    code.exposedText(), verifier: verifier?.exposedText(), redirectURI: redirectURI)
                return .right(try await logIn(with: handed))
            case .text, .choice, .grant: throw CancellationError()
            }
        } catch let error as GatewayError {
            switch error {
            case .userCredentialsUnusable: return .wrong(error, fault: error.message)
            case .refused(let refusal) where [.userCredentialsInvalid, .grantInvalid].contains(refusal.meaning):
                return .wrong(error, fault: error.message)
            default: throw error
            }
        }
    }
}
