import Agent
import AgentCore
import ArgumentParser
import FoundationEssentials
import Groundwork
import LocalAPI

/// Environment variables; an empty one counts as unset.
enum Environment {
    static subscript(name: String) -> String? {
        let value = ProcessInfo.processInfo.environment[name]
        return value?.isEmpty == false ? value : nil
    }
}

/// The options of every subcommand that talks to the daemon.
struct ClientOptions: ParsableArguments {
    @Flag(help: "Print JSON, for programs; errors too, on standard error.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Socket of the daemon (environment: LATCHKEY_SOCKET; default: \(AgentConfiguration.defaultSocketPath)).",
            valueName: "path"))
    var socket: String?

    var client: LocalClient { LocalClient(socketPath: socketPath) }

    /// Where the daemon is asked.
    var socketPath: String { socket ?? Environment["LATCHKEY_SOCKET"] ?? AgentConfiguration.defaultSocketPath }

    /// Prints the daemon's answer: unchanged with `--json`, else as text from `describe`.
    func show(_ answer: JSON, _ describe: (JSON) -> String) {
        if json { Terminal.json(answer) } else { Terminal.line(describe(answer)) }
    }
}
