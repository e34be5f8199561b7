import ArgumentParser
import Groundwork

struct Prompts: AsyncParsableCommand, Listed {
    static let configuration = CommandConfiguration(
        commandName: "prompts",
        abstract: "List pending prompts and answer them.",
        discussion: """
            Everything that the daemon needs a person for waits here: passwords, PINs, consent, choices. A secret is \
            asked for without echo, or read from standard input where that is not a terminal; it is never an argument.

              $ latchkey prompts
              $ latchkey prompts answer 3
              $ latchkey prompts answer 4 --grant
            """,
        subcommands: [List.self, Answer.self], defaultSubcommand: List.self)

    static let list = ListRoute("List the pending prompts.", "prompts", orElse: "nothing is being asked")

    struct Answer: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "answer",
            abstract: "Answer a prompt.",
            discussion: "A text is asked for here, or read from standard input; choices and consent are options.")
        @Argument(help: "The prompt's number.") var id: Int
        @Flag(help: "Give consent.") var grant = false
        @Flag(help: "Refuse, whatever is asked.") var refuse = false
        @Option(help: ArgumentHelp("One of the choices.", valueName: "choice")) var choice: String?
        @Option(help: ArgumentHelp("User name, for a prompt that asks for a login.", valueName: "name")) var user:
            String?
        @OptionGroup var options: ClientOptions

        func validate() throws {
            guard [grant, refuse, choice != nil].count(where: { $0 }) <= 1 else {
                throw ValidationError("give one of --grant, --refuse and --choice")
            }
        }

        func request() async throws -> RouteRequest { .post("prompts/\(id)", try await answer()) }

        func text(of answer: JSON) -> String { answer["state"]?.string ?? "answered" }

        private func answer() async throws -> [String: JSON] {
            if grant { return ["grant": true] }
            if refuse { return ["refuse": true] }
            if let choice { return ["choice": .string(choice)] }
            let prompt = try await options.send(.get("prompts/\(id)"))
            switch prompt["kind"]?.string {
            case "consent": throw ValidationError("prompt \(id) asks for consent: give --grant or --refuse")
            case "choice": throw ValidationError("prompt \(id) asks for a choice: give --choice or --refuse")
            case "log-in":
                let known = prompt["subject"]?["user"]?.string
                guard let name = user ?? known ?? (Terminal.inputIsTerminal ? Input.answer(to: "User: ") : nil) else {
                    throw ValidationError("prompt \(id) asks for a login: give --user NAME or --refuse")
                }
                let question: JSON = ["text": .string("Password of \(name)"), "fault": prompt["fault"] ?? .null]
                return ["userName": .string(name), "password": .string(try Self.text(for: question))]
            default: return ["text": .string(try Self.text(for: prompt))]
            }
        }

        private static func text(for prompt: JSON) throws -> String {
            guard Terminal.inputIsTerminal else {
                return try Input.firstLine(of: Input.standardInput(limit: 4096))
            }
            let question = prompt.promptQuestion
            guard prompt["secret"]?.bool != false else {
                guard let answer = Input.answer(to: question) else { throw Declined() }
                return answer
            }
            return try Input.withoutEcho(question)
        }
    }

    /// A line of the list.
    static func describe(_ prompt: JSON) -> String {
        let out = Terminal.standardOutput
        var facts: [String] = []
        if prompt["state"]?.string == "checking" { facts.append("being checked") }
        if let left = prompt["attemptsLeft"]?.integer { facts.append("\(Amount.of(left, "attempt")) left") }
        if let seconds = prompt["secondsLeft"]?.integer { facts.append("ends in \(Age(seconds: seconds))") }
        if let choices = prompt["choices"]?.array {
            facts.append("choices: \(choices.compactMap(\.string).joined(separator: ", "))")
        }
        let line = "\(prompt["id"]?.integer ?? 0)  \(prompt["kind"]?.string ?? "")  \(prompt["text"]?.string ?? "")"
        return out.shown(line) + (facts.isEmpty ? "" : out.dim("  (\(out.shown(facts.joined(separator: ", "))))"))
    }
}

/// A prompt of the daemon.
extension JSON {
    /// The question at a terminal, with the fault of the last answer.
    var promptQuestion: String {
        let text = Terminal.standardError.shown(self["text"]?.string ?? "Answer")
        guard let fault = self["fault"]?.string else { return "\(text): " }
        let left = self["attemptsLeft"]?.integer.map { " (\(Amount.of($0, "attempt")) left)" } ?? ""
        return "\(Terminal.standardError.shown(fault))\(left)\n\(text): "
    }
}
