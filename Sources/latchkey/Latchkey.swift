import Agent
import AgentCore
import ArgumentParser
import CommandWords

/// The command: `latchkey run` is the daemon, to which most other subcommands talk.
@main
struct Latchkey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latchkey",
        abstract: "Connects this board to a mobile API gateway or an MQTT broker, and keeps it connected.",
        discussion: """
            A board is set up once: 'latchkey setup' asks what there is. With an enrollment URL from a gateway's \
            administrator, saved as url.txt, this does it alone:

              $ latchkey enroll - < url.txt
              $ latchkey status

            From then on the daemon keeps the registration, the certificate and the tokens valid by itself, publishes \
            the board's sensors and receives messages.
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "Daemon",
                subcommands: [
                    Run.self, Status.self, Wait.self, Console.self, Doctor.self, LogsCommand.self, MetricsCommand.self,
                    ConfigCommand.self, VaultCommand.self, SupportBundleCommand.self,
                ]),
            CommandGroup(
                name: "Identity",
                subcommands: [
                    Setup.self, Enroll.self, GatewayCommand.self, Renew.self, Deregister.self, Reset.self,
                    IdentityCommand.self, Token.self, Accounts.self,
                ]),
            CommandGroup(
                name: "People",
                subcommands: [
                    Login.self, Logout.self, Whoami.self, Lock.self, Unlock.self, Share.self, Authorize.self,
                    Consent.self, Prompts.self, ProximityCommand.self,
                ] + Systems.commands),
            CommandGroup(
                name: "Messages",
                subcommands: [
                    Publish.self, Subscribe.self, Send.self, InboxCommand.self, ActionsCommand.self, DeadLetters.self,
                    Brokers.self,
                ]),
            CommandGroup(
                name: "APIs",
                subcommands: [
                    Call.self, Sign.self, Hosts.self, Grants.self, Keys.self, CertificatesCommand.self,
                    LocationCommand.self,
                ]),
            CommandGroup(name: "Secrets of programs", subcommands: [CryptoCommand.self, Credentials.self]),
            CommandGroup(
                name: "Services of the gateway",
                subcommands: [
                    Users.self, Groups.self, StorageCommand.self, Devices.self, Metadata.self, Apps.self,
                ]),
            CommandGroup(name: "Board", subcommands: [BoardCommand.self]),
            CommandGroup(
                name: "More", subcommands: [Explain.self, Completions.self, VersionCommand.self, FirstBootCommand.self]),
        ])

    // Not the argument parser's own flag, which would appear in the help of every subcommand.
    @Flag(help: "Print the version and exit.") var version = false

    func run() throws {
        guard version else { throw CleanExit.helpRequest(self) }
        Terminal.line(Version.text)
    }

    static func main() async {
        do {
            try requireText()
            var command = try await parsed(CommandLine.arguments.dropFirst())
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            Failure(error, asJSON: CommandLine.arguments.contains("--json")).exit()
        }
    }

    /// - Throws: ``UsageError/notText(argument:)``
    private static func requireText() throws(UsageError) {
        for (index, argument) in CommandLine.arguments.enumerated() where argument.contains("\u{FFFD}") {
            // Given this way, or put there for bytes that are not text.
            guard let bytes = CommandLine.unsafeArgv[index], String(validatingCString: bytes) != nil else {
                throw .notText(argument: index)
            }
        }
    }

    private static func parsed(_ arguments: ArraySlice<String>) async throws -> any ParsableCommand {
        // The parser makes the configurations of all commands that it may meet, which stay in memory. The daemon's is
        // parsed alone; if something is wrong with it, the whole parser reports it.
        if arguments.first == "run", let run = try? Run.parse(Array(arguments.dropFirst())) { return run }
        do {
            try CommandNames.check(arguments, of: Self.self)
        } catch {
            throw UsageError(error)
        }
        // Completions of names that the daemon has wait for its answer.
        return try await asyncParseAsRoot()
    }
}
