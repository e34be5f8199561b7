import Agent
import AgentCore
import AgentSettingsFiles
import ArgumentParser
import FoundationEssentials
import Glibc
import Groundwork

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show, change and check the agent's settings.",
        discussion: """
            No daemon is needed, and none is asked: the agent reads its settings when it starts.

              $ latchkey config show --changed
              $ latchkey config get broker.port
              $ latchkey config set broker.port 1883
              $ systemctl restart latchkey
            """,
        subcommands: [Show.self, Get.self, Set.self, Add.self, Unset.self, Check.self])

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Check the agent's configuration, or a gateway's document, and name every fault.",
            discussion:
                "A file ending in .json is a gateway's msso_config.json, any other the agent's own TOML, which is checked "
                + "together with the files of the directory NAME.d beside NAME.toml. Nothing is changed, "
                + "and no daemon is needed. What the agent's settings name is looked for on this machine: users and groups, "
                + "files, the board definition, the Bluetooth adapter. Exit status 78 when there is a fault, or when the file "
                + "cannot be read.")

        @Argument(help: "File to check; without it, the agent's configuration in use.") var file: String?
        @Option(help: "The same file, named as in other commands.") var config: String?
        @Flag(help: "Check the file alone, not that what it names exists on this machine: for images and other boards.")
        var syntaxOnly = false
        @Flag(help: "Print JSON.") var json = false

        func validate() throws {
            guard file == nil || config == nil else { throw ValidationError("give the file once") }
        }

        func run() async throws {
            let named = file ?? config ?? Environment["LATCHKEY_CONFIG"]
            let path = named ?? AgentConfiguration.defaultPath
            // At the usual place there may be drop-ins alone.
            let content = named != nil || access(path, F_OK) == 0 ? try Self.content(of: path) : []
            let report = ConfigurationReport(
                of: content, path: path, comparesMachine: !syntaxOnly, of: Features.all)
            if json {
                Terminal.json(report.json)
            } else {
                for fault in report.faults { Terminal.line("\(Terminal.standardOutput.red("fault")) \(fault)") }
                for notice in report.notices { Terminal.line("\(Terminal.standardOutput.yellow("note"))  \(notice)") }
                if report.faults.isEmpty { Terminal.line("\(Terminal.standardOutput.green("ok"))    \(path)") }
            }
            guard report.faults.isEmpty else { throw ExitCode(ExitStatus.configuration.rawValue) }
        }

        /// A file that cannot be read is the same fault here as in `latchkey run`.
        private static func content(of path: String) throws -> [UInt8] {
            // Typed, the error of a `do` whose `catch` has a pattern stops the compiler of Swift 6.2.
            do throws(any Error) {
                return try Input.file(path, limit: 1 << 20)
            } catch InputError.unreadable(let name, let reason) {
                throw ConfigurationError.unreadable(path: name, reason: reason)
            }
        }
    }
}
