import Groundwork
import LocalAPI
import Synchronization

/// A login, or the lock of its session, whose secret the daemon asks for by prompts, which can be answered here or
/// elsewhere.
///
/// It lasts as long as this command reads its events; when the command ends, the prompt is withdrawn.
struct PromptedLogin {
    let client: LocalClient
    /// The path of the account's route.
    let path: String
    /// What is asked of the route.
    let body: JSON
    /// The name of the event that ends it, with its result.
    var end = "logged-in"

    private typealias Question = (line: SecretLine, prompt: JSON)

    /// - Returns: the logged-in user, or the state of the session.
    /// - Throws: `LocalAPIError`, ``InputError``
    func run() async throws -> JSON {
        let (questions, asking) = AsyncStream.makeStream(of: Question.self)
        return try await withThrowingTaskGroup(of: JSON?.self) { group in
            group.addTask { try await follow(asking) }
            group.addTask {
                for await question in questions { try await answer(question) }
                return nil
            }
            var user: JSON?
            // An error of either ends both: without its reader there is no login.
            for try await result in group { user = result ?? user }
            guard let user else {
                throw LocalAPIError.noAnswer(reason: "the daemon ended the login without a result")
            }
            return user
        }
    }

    private func follow(_ asking: AsyncStream<Question>.Continuation) async throws -> JSON? {
        let lines = OpenLine()
        defer {
            lines.cancel()
            asking.finish()
        }
        var user: JSON?
        for try await event in client.events(path, posting: body) {
            switch event.name {
            case "prompt.asked":
                asking.yield((try lines.next(), event.data))
            case "prompt.answered":
                let answerer = Terminal.standardError.shown(event.data["by"]?.string ?? "another user")
                lines.cancel("answered elsewhere (\(answerer))")
            case end: user = event.data
            case "press-button": Terminal.error(Terminal.standardError.shown(event.data["text"]?.string ?? event.name))
            default: break
            }
        }
        return user
    }

    private func answer(_ question: Question) async throws {
        let password = try await question.line.read(question.prompt.promptQuestion)
        guard let password, let id = question.prompt["id"]?.integer else { return }
        do throws(LocalAPIError) {
            _ = try await client.post("/v1/prompts/\(id)", ["text": .string(password)])
        } catch {
            guard error.isLatePromptAnswer else { throw error }
            // Another person was faster; the events report the result of that answer.
            Terminal.error("latchkey: \(error.message)")
        }
    }
}

extension LocalAPIError {
    /// Of an answer to a prompt: whether the prompt was already answered or has ended.
    var isLatePromptAnswer: Bool { [.conflict, .notFound].contains(kind) }
}

/// The line that is being asked for.
private final class OpenLine: Sendable {
    private let line = Mutex<SecretLine?>(nil)

    func next() throws(InputError) -> SecretLine {
        let next = try SecretLine()
        line.withLock { $0 = next }
        return next
    }

    func cancel(_ reason: String = "") { line.withLock { $0 }?.cancel(reason) }
}
