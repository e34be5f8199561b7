import Agent
import ArgumentParser
import FoundationEssentials
import Logging

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the daemon until it is told to stop.",
        discussion: "Started by systemd as latchkey.service. SIGTERM and SIGINT end it; nothing accepted is lost.")

    @Option(help: ArgumentHelp("Configuration file (environment: LATCHKEY_CONFIG).", valueName: "path"))
    var config: String?

    @Option(help: "Least level that is logged: trace, debug, info, notice, warning, error, critical.")
    var logLevel: Logger.Level?

    func run() async throws {
        let configuration = try AgentConfiguration.load(
            path: config ?? ProcessInfo.processInfo.environment["LATCHKEY_CONFIG"])
        Logs.start(level: logLevel ?? configuration.logLevel)
        try await Agent.run(configuration)
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
