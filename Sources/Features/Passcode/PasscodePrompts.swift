import AgentCore
import Cryptography
import Groundwork
import LocalAPI
import Prompts
import Vault

/// Passcodes that prompts ask for, here or elsewhere.
extension PasscodeFeature {
    /// How long each answer may take.
    private static let patience = Duration.seconds(180)
    /// How often a person may correct a new passcode.
    private static let corrections = 3
    /// A wait up to this, in seconds, is waited for while a prompt is open.
    private static let longestWait = 10

    func addPromptedRoutes(to router: inout Router) {
        router.on(
            "POST", "/v1/vault/unlock/prompted", needs: .operate,
            .init(
                "Unlock with a passcode that a prompt asks for; ends when its reader disconnects",
                body: ["answerers": Self.answerersSchema],
                events: ["prompt.*": .promptStep, "unlocked": Self.vaultSchema])
        ) { request in
            let answerers = try RequestBody(request).answerers(of: request)
            return .events(
                LocalEvent.steps("unlocked") { step in
                    _ = try await self.askOld(answerers, step) { try await self.desk.unlock(by: $0) }
                    return try await self.state()
                })
        }
        router.on(
            "POST", "/v1/vault/passcode/prompted", needs: .operate,
            .init(
                "Set or change the passcode as prompts ask for it; ends when its reader disconnects",
                body: ["answerers": Self.answerersSchema],
                events: ["prompt.*": .promptStep, "changed": Self.vaultSchema])
        ) { request in
            let answerers = try RequestBody(request).answerers(of: request)
            return .events(
                LocalEvent.steps("changed") { step in
                    try await self.change(answerers, step)
                    return try await self.state()
                })
        }
    }

    private typealias Step = @Sendable (LocalEvent) -> Void

    private func change(_ answerers: PromptQuestion.Answerers, _ step: @escaping Step) async throws {
        let status = try await desk.compartment.status()
        var old: SecretBytes?
        if status.state == .set, !status.isOpen {
            // An expired one opens nothing, but may be changed.
            old = try await askOld(answerers, step) { passcode in
                do {
                    try await self.desk.unlock(by: passcode)
                } catch VaultError.passcode(.expired) {
                    return passcode
                }
                return nil
            }
        }
        let policy = host.settings[PasscodeSettings.self].policy ?? status.policy
        let new = try await ask(.newVaultPasscode, "New passcode of the vault", answerers, step) { answer in
            guard let fault = policy.fault(of: answer) else { return .right(answer) }
            let error = VaultError.passcode(.refused(fault))
            return .wrong(error, fault: error.message)
        }
        let again = try await ask(.newVaultPasscode, "The same passcode again", answerers, step) { answer in
            answer == new ? .right(answer) : .wrong(PasscodePolicyError.differs, fault: "the two differ")
        }
        try await desk.set(again, from: old)
    }

    /// Asks for the present passcode until it is right, or no attempt is left.
    private func askOld<Value: Sendable>(
        _ answerers: PromptQuestion.Answerers, _ step: @escaping Step,
        _ attempt: @escaping @Sendable (SecretBytes) async throws -> Value
    ) async throws -> Value {
        let left = try await desk.compartment.status().triesLeft ?? Self.corrections
        return try await ask(.vaultPasscode, "Passcode of the vault", answerers, attempts: max(left, 1), step) {
            answer in
            do {
                return .right(try await self.afterWait { try await attempt(answer) })
            } catch let error as VaultError {
                guard case .passcode(.wrong) = error else { throw error }
                return .wrong(error, fault: "the passcode is wrong")
            }
        }
    }

    private func afterWait<Value: Sendable>(_ attempt: @Sendable () async throws -> Value) async throws -> Value {
        let seconds = try await desk.compartment.status().waitSeconds
        if seconds > 0, seconds <= Self.longestWait { try await Task.sleep(for: .seconds(seconds)) }
        return try await attempt()
    }

    private func ask<Value: Sendable>(
        _ kind: PromptQuestion.Kind, _ text: String, _ answerers: PromptQuestion.Answerers,
        attempts: Int = corrections, _ step: @escaping Step,
        _ judge: @escaping @Sendable (SecretBytes) async throws -> PromptVerdict<Value>
    ) async throws -> Value {
        @Sendable func report(_ event: PromptEvent) {
            step(LocalEvent(name: event.report.name, data: .object(event.report.fields)))
        }
        let question = PromptQuestion(kind, text, answerers: answerers, attempts: attempts)
        return try await host.prompts.ask(question, patience: Self.patience) {
            report(.asked($0))
        } check: { answer, prompt, answerer in
            report(.answered(prompt, by: answerer))
            guard case .text(let passcode) = answer else { throw CancellationError() }
            return try await judge(passcode)
        }
    }

    private static var answerersSchema: Schema {
        .string("who may answer: operators by default, or only the user who calls", choices: ["operators", "user"])
    }
}
