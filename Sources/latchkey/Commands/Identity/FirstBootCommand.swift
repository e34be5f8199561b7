import Agent
import AgentCore
import AgentFirstBoot
import ArgumentParser

struct FirstBootCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "first-boot",
        abstract: "Read or wipe the enrollment that waits for the agent, for the connection on standard input.",
        discussion: "Started by systemd as latchkey-first-boot@.service, not by hand.", shouldDisplay: false)

    @Option(
        help: ArgumentHelp(
            "Settings file (environment: LATCHKEY_CONFIG; default: \(AgentConfiguration.defaultPath)).",
            valueName: "path"))
    var config: String?

    func run() { FirstBootHelper.serve(settings: config ?? Environment["LATCHKEY_CONFIG"], of: Features.all) }
}
