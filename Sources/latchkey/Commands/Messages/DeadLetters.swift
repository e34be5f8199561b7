import ArgumentParser
import Groundwork

struct DeadLetters: AsyncParsableCommand, Listed {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters",
        abstract: "Show and handle messages that the broker refuses.",
        discussion: """
            A message is set aside when the broker ended the connection three times after it was sent alone: it is too \
            large for the broker, or its topic is not allowed. All other messages go on. Dead letters are kept until \
            they are sent again, removed, or older than outbox.max_age_hours.
            """,
        subcommands: [List.self, Show.self, Retry.self, Remove.self], defaultSubcommand: List.self)

    static let list = ListRoute(
        "List the dead letters, the oldest first.", "dead-letters", member: "deadLetters", orElse: "no dead letters")

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Write its payload to standard output.")
        @Argument(help: "The number of the dead letter.") var id: Int64
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let letter = try await options.send(.get("dead-letters/\(id)"))
            guard !options.json else { return Terminal.json(letter) }
            Terminal.content(Base64.decode(letter["payload"]?.string ?? "") ?? [])
        }
    }

    struct Retry: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry", abstract: "Send it again, after everything that is waiting.")
        @Argument(help: "The number of the dead letter.") var id: Int64
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest { .post("dead-letters/\(id)/retry") }

        func text(of answer: JSON) -> String { "accepted as message \(answer["id"]?.integer ?? 0)" }
    }

    struct Remove: RouteCommand {
        static let configuration = CommandConfiguration(commandName: "remove", abstract: "Delete it for good.")
        @Argument(help: "The number of the dead letter.") var id: Int64
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest { .delete("dead-letters/\(id)") }

        func text(of answer: JSON) -> String { "removed dead letter \(id)" }
    }

    static func describe(_ letter: JSON) -> String {
        let out = Terminal.standardOutput
        return "\(letter["id"]?.integer ?? 0)  \(out.shown(letter["topic"]?.string ?? "?")), "
            + "\(letter["bytes"]?.integer ?? 0) bytes, accepted \(letter["acceptedAt"]?.string ?? "?")\n"
            + "   \(out.shown(letter["reason"]?.string ?? ""))"
    }
}
