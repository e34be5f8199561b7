import Agent
import AgentCore
import AgentMessages
import ArgumentParser
import Groundwork

struct ActionsCommand: AsyncParsableCommand, Listed {
    static let configuration = CommandConfiguration(
        commandName: "actions",
        abstract: "Show commands that messages start.",
        discussion: """
            Each entry of [[actions]] in the settings has a command that gets every message that matches a filter on \
            its standard input, one after another. A message is done when the command has ended with status 0.

              $ latchkey actions
              $ latchkey actions log reboot
            """,
        subcommands: [List.self, Log.self, Retry.self, Serve.self], defaultSubcommand: List.self)

    static let list = ListRoute(
        "List the actions.", "actions", orElse: "no actions; [[actions]] in the settings makes one")

    struct Log: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "log",
            abstract: "Show how the command ended lately, and the end of its output.")
        @Argument(help: "Name of the action.") var name: String
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest { .get("actions/\(name.segment)") }

        func text(of answer: JSON) -> String { answer.lines("runs", orElse: "it was never started", Self.describe) }

        private static func describe(_ run: JSON) -> String {
            let out = Terminal.standardOutput
            let verdict = run["verdict"]?.string ?? "?"
            let lines = (run["output"]?.string ?? "").split(separator: "\n").map { "\n   " + out.shown(String($0)) }
            return "\(out.dim(run["began"]?.string ?? ""))  message \(run["id"]?.integer ?? 0), attempt "
                + "\(run["attempt"]?.integer ?? 0): \(out.shown(ending(of: run))) after \(run["milliseconds"]?.integer ?? 0) ms, "
                + (verdict == "done" ? out.green(verdict) : out.yellow(verdict)) + lines.joined()
        }

        private static func ending(of run: JSON) -> String {
            if let refusal = run["refusal"]?.string { return "not started: \(refusal)" }
            if run["timedOut"]?.bool == true { return "ended at its time limit" }
            if let signal = run["signal"]?.integer { return "ended by signal \(signal)" }
            return "status \(run["status"]?.integer ?? 0)"
        }
    }

    struct Retry: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry",
            abstract: "Pass the messages that were set aside to the command again.")
        @Argument(help: "Name of the action.") var name: String
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest { .post("actions/\(name.segment)/retry") }

        func text(of answer: JSON) -> String {
            "\(Amount.of(answer["count"]?.integer ?? 0, "message")) will be tried again"
        }
    }

    struct Serve: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "serve",
            abstract: "Run the command of one action, for the connection on standard input.",
            discussion: "Started by systemd as latchkey-action@.service, not by hand.", shouldDisplay: false)
        @Option(
            help: ArgumentHelp(
                "Settings file (environment: LATCHKEY_CONFIG; default: \(AgentConfiguration.defaultPath)).",
                valueName: "path"))
        var config: String?

        func run() { ActionRunner.serve(settings: config ?? Environment["LATCHKEY_CONFIG"], of: Features.all) }
    }

    static func describe(_ action: JSON) -> String {
        let out = Terminal.standardOutput
        let command = (action["command"]?.array ?? []).compactMap(\.string).joined(separator: " ")
        let dead = action["dead"]?.integer ?? 0
        return "\(out.shown(action["name"]?.string ?? "?"))  \(action["waiting"]?.integer ?? 0) waiting"
            + (dead > 0 ? out.yellow(", \(dead) set aside") : "") + "  \(out.dim(out.shown(command)))"
    }
}
