import ArgumentParser
import Groundwork

struct IdentityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identity",
        abstract: "Decide what to do with an identity that came with another board's card.",
        discussion: """
            The agent remembers the serial number that the board's firmware reports, if it has one. On other hardware it \
            connects to nothing, and 'latchkey status' reports that, until a person decides: 'adopt' lets this board take \
            the place of the other one; 'discard' forgets what came with a copy of its card, and the other board goes on.

              $ latchkey identity adopt
              $ latchkey identity discard
            """,
        subcommands: [Adopt.self, Discard.self])

    struct Adopt: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "adopt", abstract: "Keep using the identity: the other board is gone.",
            discussion: "Must not be used while the other board runs: each would end the connections of the other.")
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest { .post("identity/adopt") }

        func text(of answer: JSON) -> String { "adopted; the agent goes on within seconds" }
    }

    struct Discard: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "discard", abstract: "Forget the identity, the accounts and the messages that were copied.",
            discussion: "Asks for confirmation. Nothing is sent to the gateway, where the other board stays registered."
        )
        @Flag(help: "Do not ask for confirmation.") var yes = false
        @OptionGroup var options: ClientOptions

        func confirm() throws {
            try Confirmation.ask(
                "this forgets everything that came from the other board: keys, accounts and messages", isGiven: yes)
        }

        func request() -> RouteRequest { .post("identity/discard") }

        func text(of answer: JSON) -> String { "discarded; enroll this board with: latchkey enroll - < url.txt" }
    }
}
