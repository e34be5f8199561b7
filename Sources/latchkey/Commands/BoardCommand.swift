import Agent
import ArgumentParser
import Board
import FoundationEssentials
import Groundwork
import LocalAPI

struct BoardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "board", abstract: "List board definitions, watch the sensors, check the parts.",
        subcommands: [List.self, Watch.self, Check.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the board definitions there are.")
        @Option(help: "Folder to search; may be repeated.") var directory: [String] = []
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            let catalog = BoardCatalog(folders: directory.isEmpty ? BoardCatalog.standardFolders : directory)
            let definitions = try catalog.names.map { try catalog.definition(named: $0) }
            let detected = (try? catalog.detect())?.definition.name
            if json {
                Terminal.line(JSON.array(definitions.map { definition in
                    [
                        "name": .string(definition.name), "title": .string(definition.title),
                        "isThisBoard": .bool(definition.name == detected), "sensors": .integer(Int64(definition.sensors.count)),
                    ]
                }).text)
                return
            }
            guard !definitions.isEmpty else {
                Terminal.line("no definitions in \(catalog.folders.joined(separator: ", ")); name their folder with --directory")
                return
            }
            var fields = Fields()
            for definition in definitions {
                let mark = definition.name == detected ? Terminal.standardOutput.green("  this board") : ""
                fields.add(definition.name, "\(definition.title), \(definition.sensors.count) sensors\(mark)")
            }
            Terminal.line(fields.text)
        }
    }

    struct Watch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print readings as they are sent, until Ctrl-C.")
        @Option(help: ArgumentHelp("End after so many sample sets.", valueName: "n")) var count: Int?
        @OptionGroup var options: ClientOptions

        func validate() throws {
            guard count ?? 1 > 0 else { throw ValidationError("--count is 1 or more") }
        }

        func run() async throws {
            let client = options.client
            if !options.json {
                for reading in try await client.get("/v1/sensors")["readings"]?.array ?? [] { Terminal.line(text(of: reading)) }
            }
            var received = 0
            try await Following(client: client, path: "/v1/sensors/stream", isKnown: !options.json).run { event in
                if options.json {
                    Terminal.line(event.data.text)
                } else {
                    for reading in event.data["readings"]?.array ?? [] { Terminal.line(text(of: reading)) }
                }
                received += 1
                return received != count
            }
        }

        private func text(of reading: JSON) -> String {
            let out = Terminal.standardOutput
            let name = (reading["name"]?.string ?? "?").padded(to: 28)
            guard let value = reading["value"]?.number else { return "\(name) \(out.red("no value"))" }
            let unit = reading["unit"]?.string ?? ""
            let doubt = reading["quality"]?.string == "good" ? "" : "  " + out.yellow(reading["quality"]?.string ?? "")
            return "\(name) \(value) \(out.dim(unit))\(doubt)"
        }
    }

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Look for every part that a definition names, without the daemon.",
            discussion: "Exit status 1 when a part is missing that the definition does not call optional.")

        @Argument(help: "Name of a definition, or a path; without it, what the settings say.") var definition: String?
        @Option(help: "Folder to search; may be repeated.") var directory: [String] = []
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            var settings = try AgentConfiguration.load(path: ProcessInfo.processInfo.environment["LATCHKEY_CONFIG"]).board
            if let definition { settings.definition = definition }
            if !directory.isEmpty { settings.directories = directory }
            let board = try settings.read().definition
            let findings = await BoardCheck.run(board)
            if json {
                Terminal.line((["board": .string(board.name), "parts": .array(findings.map(\.json))] as JSON).text)
            } else {
                Terminal.line(Terminal.standardOutput.bold(board.title))
                for finding in findings { Terminal.line(text(of: finding.json)) }
            }
            let isFaulty = findings.contains { if case .fault = $0.finding { true } else { false } }
            if isFaulty { throw ExitCode(ExitStatus.failure.rawValue) }
        }

        private func text(of part: JSON) -> String {
            let out = Terminal.standardOutput
            let name = (part["part"]?.string ?? "?").padded(to: 28)
            switch part["verdict"]?.string {
            case "fault":
                let remedy = part["error"]?["remedy"]?.string.map { "\n      \($0)" } ?? ""
                return "\(out.red("fault"))       \(name) \(part["error"]?["message"]?.string ?? "")\(remedy)"
            case "not-fitted": return "\(out.dim("not fitted"))  \(name)"
            case "simulated": return "\(out.yellow("simulated"))   \(name)"
            default:
                let value = part["reading"]?["value"]?.number.map { "\($0) \(part["reading"]?["unit"]?.string ?? "")" } ?? ""
                return "\(out.green("present"))     \(name) \(value)"
            }
        }
    }
}

extension String {
    /// At least so long, with blanks at its end.
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
