import Groundwork
import LocalAPI
import Synchronization

/// Asks at the terminal what the daemon asks during a call: how a one-time password is sent, and the password. Others
/// may answer too; the first answer counts.
final class CallPrompts: Sendable {
    private let client: LocalClient
    private let asking = Mutex<(line: SecretLine, task: Task<Void, Never>)?>(nil)

    init(client: LocalClient) { self.client = client }

    /// - Parameter event: `prompt.asked` or `prompt.answered`.
    /// - Throws: ``InputError/unreadable(name:reason:)``
    func take(_ event: LocalEvent) throws {
        guard event.name == "prompt.asked" else {
            let answerer = Terminal.standardError.shown(event.data["by"]?.string ?? "another user")
            asking.withLock { $0?.line }?.cancel("answered elsewhere (\(answerer))")
            return
        }
        let (line, prompt) = (try SecretLine(), event.data)
        let former = asking.withLock { $0 }
        former?.line.cancel()
        let task = Task {
            await former?.task.value
            await answer(prompt, by: line)
        }
        asking.withLock { $0 = (line, task) }
    }

    /// Returns when nothing is asked for any more, and the terminal is as it was.
    func end() async {
        guard let (line, task) = asking.withLock({ $0 }) else { return }
        line.cancel()
        await task.value
    }

    private func answer(_ prompt: JSON, by line: SecretLine) async {
        guard let id = prompt["id"]?.integer else { return }
        do {
            let choices = prompt["choices"]?.array?.compactMap(\.string) ?? []
            let answer: JSON?
            do {
                answer =
                    choices.isEmpty
                    ? try await line.read(prompt.promptQuestion).map { ["text": .string($0)] }
                    : try await choice(of: choices, prompt, line).map { ["choice": .string($0)] }
            } catch is InputError {
                // An empty line, or the end of the input: the person does not want to go on.
                answer = ["refuse": true]
            }
            if let answer { _ = try await client.post("/v1/prompts/\(id)", answer) }
        } catch let error as LocalAPIError where error.isLatePromptAnswer {
            // Another person was faster; the call reports the result of that answer.
            Terminal.error("latchkey: \(error.message)")
        } catch {
            // The daemon sees that this program is gone, and ends the call.
            Failure(error, asJSON: false).exit()
        }
    }

    /// - Returns: `nil` if no choice is needed any more.
    private func choice(of choices: [String], _ prompt: JSON, _ line: SecretLine) async throws -> String? {
        let shown = choices.enumerated().map { "  \($0 + 1)  \(Terminal.standardError.shown($1))\n" }.joined()
        let text = Terminal.standardError.shown(prompt["text"]?.string ?? "Choose")
        var question = "\(text):\n\(shown)Number or name: "
        while let typed = try await line.read(question, showing: true)?.trimmed {
            if let number = Int(typed), choices.indices.contains(number - 1) { return choices[number - 1] }
            if let named = choices.first(where: { $0.lowercased() == typed.lowercased() }) { return named }
            question = "Number or name, or an empty line to refuse: "
        }
        return nil
    }
}
