#if MPin
import ArgumentParser
import Groundwork
import LocalAPI

struct MPinUsers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Make, list and delete users of an M-Pin back end.",
        subcommands: [New.self, List.self, Delete.self], defaultSubcommand: List.self)

    struct New: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new",
            abstract: "Make a user, to be registered next.",
            discussion: """
                The user is kept once the back end has accepted the registration. If the back end asks for a name of \
                this board, a terminal asks you for it.
                """)
        @Argument(help: "User ID at the back end, such as an email address.") var id: String
        @Option(help: ArgumentHelp("Name that the back end shows for this board.", valueName: "name"))
        var deviceName: String?
        @OptionGroup var options: MPinAccountOptions

        func run() async throws {
            var answer = try await make(deviceName)
            if answer["wantsDeviceName"]?.bool == true, Terminal.inputIsTerminal {
                let name = Input.answer(to: "Name of this board at the back end (Enter for no name): ")
                if let name = name?.trimmed, !name.isEmpty { answer = try await make(name) }
            }
            options.show(answer) { answer in
                let advice = answer["advice"]?.array?.compactMap(\.string) ?? []
                let wish =
                    answer["wantsDeviceName"]?.bool == true
                    ? ["The back end asks for a name of this board; give it with --device-name NAME."] : []
                return ([MPinCommand.describe(answer)] + wish + advice).joined(separator: "\n")
            }
        }

        private func make(_ deviceName: String?) async throws -> JSON {
            try await options.send(.post("users", ["user": .string(id), "deviceName": deviceName.map(JSON.string)]))
        }
    }

    struct List: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the users and their states.")
        @OptionGroup var options: MPinAccountOptions

        func request() -> RouteRequest { .get("users") }

        func text(of answer: JSON) -> String {
            answer.lines("users", orElse: "no users; make one: latchkey mpin user new ID", MPinCommand.describe)
        }
    }

    struct Delete: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a user here, with the token.", discussion: "The back end is not asked.")
        @Argument(help: "User ID at the back end.") var id: String
        @OptionGroup var options: MPinAccountOptions

        func request() -> RouteRequest { .delete("users/\(id.segment)") }

        func text(of answer: JSON) -> String {
            "deleted \(Terminal.standardOutput.shown(answer["deleted"]?.string ?? ""))"
        }
    }
}

struct MPinRegister: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "register",
        abstract: "Register a user: start, confirm once the back end has verified the user, and finish with a PIN.",
        discussion: """
            What was confirmed is in memory only: if the daemon ends before 'finish', 'confirm' is refused, as the back \
            end has handed out the secret already. 'restart' then begins again for a user who is not yet activated; \
            one who is activated is deleted and made anew.
            """,
        subcommands: [Start.self, Restart.self, Confirm.self, Finish.self])

    struct Start: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "start", abstract: "Ask the back end for an identity.")
        @Flag(help: "Read the code that activates the user at once from standard input.") var codeStdin = false
        @Option(help: ArgumentHelp("Text that the back end passes on for verifying the user.", valueName: "text"))
        var userData: String?
        @OptionGroup var options: MPinUserOptions

        func request() throws -> RouteRequest {
            let code = codeStdin ? JSON.string(try SecretAnswer.line()) : nil
            return .post(
                "register", ["userData": userData.map(JSON.string), "activationCode": code], timeout: .seconds(90))
        }

        func text(of answer: JSON) -> String { MPinCommand.describe(answer) }
    }

    struct Restart: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "restart",
            abstract: "Have the user verified again, such as by another mail.")
        @Option(help: ArgumentHelp("Text that the back end passes on for verifying the user.", valueName: "text"))
        var userData: String?
        @OptionGroup var options: MPinUserOptions

        func request() -> RouteRequest {
            .post("register", ["restart": true, "userData": userData.map(JSON.string)], timeout: .seconds(90))
        }

        func text(of answer: JSON) -> String { MPinCommand.describe(answer) }
    }

    struct Confirm: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "confirm", abstract: "Fetch the secret of a user who was verified.")
        @Option(help: ArgumentHelp("Where the back end may send push messages.", valueName: "id"))
        var pushToken: String?
        @OptionGroup var options: MPinUserOptions

        func request() -> RouteRequest {
            .post("confirm", ["pushToken": pushToken.map(JSON.string)], timeout: .seconds(90))
        }

        func text(of answer: JSON) -> String { MPinCommand.describe(answer) }
    }

    struct Finish: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "finish",
            abstract: "Choose the PIN, and keep the token that belongs to it.",
            discussion: """
                A PIN is any printable text, but at most 16,384 of them differ: a longer one is harder to watch, not \
                harder to guess.
                """)
        @Flag(help: "Read the PIN from standard input, its first line.") var pinStdin = false
        @OptionGroup var options: MPinUserOptions

        func run() async throws {
            let path = try await options.path("finish")
            let answer = try await SecretAnswer(client: options.client, member: "pin", isGiven: pinStdin)
                .post(path, [:], endingWith: "registered")
            options.show(answer, MPinCommand.describe)
        }
    }
}
#endif
