import Agent
import AgentCore
import ArgumentParser
import FoundationEssentials
import Logging

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the daemon until it is stopped.",
        discussion: "Started by systemd as latchkey.service. SIGTERM and SIGINT end it; nothing accepted is lost.")

    @Option(
        help: ArgumentHelp(
            "Settings file (environment: LATCHKEY_CONFIG; default: \(AgentConfiguration.defaultPath)).",
            valueName: "path"))
    var config: String?

    @Option(help: "Minimum log level; without it, what the settings say.")
    var logLevel: Logger.Level?

    func run() async throws {
        let configuration = try AgentConfiguration.load(
            path: config ?? Environment["LATCHKEY_CONFIG"])
        Logs.start(level: logLevel ?? configuration.logLevel)
        try await Agent.run(configuration)
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
