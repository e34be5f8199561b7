import ArgumentParser
import CommandWords
import Groundwork

/// The command of the lab gateway. `run` is the lab; every other subcommand controls a running one through its admin
/// port.
@main
struct LatchkeyLab: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latchkey-lab",
        abstract: "A mobile API gateway with its broker, for development and tests.",
        discussion: """
            $ latchkey-lab run &
            gateway     https://localhost:8443
            broker      localhost:8883
            m-pin       https://localhost:8443/mpin
            users       alice (alice-password), bob (bob-password)
            admin page  http://127.0.0.1:8480/#q6v…
            $ latchkey-lab enroll
            https://localhost:8443/connect/device/config?sessionData=eyJ…

            Only the user who started the lab can control it: the commands read its admin token from a file of \
            that user.

            Exit status (sysexits.h): 64 wrong use, 65 the lab refused the input, 69 no lab is running or it cannot \
            start its parts, 77 the admin token is missing, 78 the lab's environment is at fault.
            """,
        version: Release.version,
        groupedSubcommands: [
            CommandGroup(name: "Lab", subcommands: [Run.self, Page.self]),
            CommandGroup(
                name: "Boards and clients",
                subcommands: [Enroll.self, Devices.self, Client.self, MessagesCommand.self]),
            CommandGroup(
                name: "People", subcommands: [Logins.self, OneTimePasswordsCommand.self, MPinCommand.self]),
            CommandGroup(name: "Faults", subcommands: [FaultCommand.self]),
            CommandGroup(name: "More", subcommands: [Explain.self, Completions.self]),
        ])

    static func main() async {
        do {
            do {
                try CommandNames.check(CommandLine.arguments.dropFirst(), of: Self.self)
            } catch {
                throw ParserError.unknownCommand(error)
            }
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            Failure(error, asJSON: CommandLine.arguments.contains("--json")).exit()
        }
    }
}
