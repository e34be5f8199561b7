import ArgumentParser
import Groundwork
import LocalAPI

struct LogsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs", abstract: "Show the agent's latest log entries.",
        discussion: """
            The agent keeps its last 200 entries in memory, since its start. The journal has all of them: \
            journalctl -u latchkey

              $ latchkey logs
              $ latchkey logs --follow
            """)

    @Flag(name: .shortAndLong, help: "Then show new entries as they are logged, until Ctrl-C.") var follow = false
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let client = options.client
        guard follow else {
            return options.show(try await client.get("/v1/logs")) { $0.lines("entries", orElse: "", Self.line) }
        }
        try await Following(client: client, path: "/v1/logs/stream").run { event in
            Terminal.line(options.json ? event.data.text : Self.line(event.data))
            return true
        }
    }

    private static func line(_ entry: JSON) -> String {
        let out = Terminal.standardOutput
        let level = entry["level"]?.string ?? ""
        let shown =
            switch level {
            case "error", "critical": out.red(level)
            case "warning": out.yellow(level)
            default: level
            }
        return "\(out.dim(entry["time"]?.string ?? ""))  \(shown)  \(out.shown(entry["text"]?.string ?? ""))"
    }
}
