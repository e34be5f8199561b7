import ArgumentParser
import FoundationEssentials
import Groundwork
import LocalAPI

struct DeadLetters: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters",
        abstract: "Show and handle messages that the broker refuses.",
        discussion: """
            A message is set aside when the broker ended the connection three times after it was sent alone: it is too \
            large for the broker, or its topic is not allowed. All other messages go on. Dead letters are kept until \
            they are sent again, removed, or older than outbox.max_age_hours.
            """,
        subcommands: [List.self, Show.self, Retry.self, Remove.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the dead letters, the oldest first.")
        @OptionGroup var options: ClientOptions

        func run() async throws {
            options.show(
                try await options.client.get("/v1/dead-letters"), each: "deadLetters", orElse: "no dead letters"
            ) { DeadLetters.describe($0) }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Write its payload to standard output.")
        @Argument(help: "The number of the dead letter.") var id: Int64
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let letter = try await options.client.get("/v1/dead-letters/\(id)")
            guard !options.json else { return options.show(letter) { _ in "" } }
            Terminal.content(Base64.decode(letter["payload"]?.string ?? "") ?? [])
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry", abstract: "Send it again, after everything that is waiting.")
        @Argument(help: "The number of the dead letter.") var id: Int64
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let answer = try await options.client.post("/v1/dead-letters/\(id)/retry", [:])
            options.show(answer) { "accepted as message \($0["id"]?.integer ?? 0)" }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "remove", abstract: "Delete it for good.")
        @Argument(help: "The number of the dead letter.") var id: Int64
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let answer = try await options.client.delete("/v1/dead-letters/\(id)")
            options.show(answer) { _ in "removed dead letter \(id)" }
        }
    }

    private static func describe(_ letter: JSON) -> String {
        let out = Terminal.standardOutput
        return "\(letter["id"]?.integer ?? 0)  \(out.shown(letter["topic"]?.string ?? "?")), "
            + "\(letter["bytes"]?.integer ?? 0) bytes, accepted \(letter["acceptedAt"]?.string ?? "?")\n"
            + "   \(out.shown(letter["reason"]?.string ?? ""))"
    }
}
