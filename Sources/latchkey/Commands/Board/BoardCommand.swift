import Agent
import AgentBoard
import AgentCore
import ArgumentParser
import Board
import FoundationEssentials
import Groundwork
import LocalAPI

struct BoardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "board", abstract: "List board definitions, watch sensors, check parts, report readings.",
        subcommands: [List.self, Watch.self, Check.self, Report.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List available board definitions.",
            discussion: "Asks the daemon; if none answers, the folders named by the settings are searched.")
        @Option(help: "Folder to search, without the daemon; may be repeated.") var directory: [String] = []
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let choice = try await BoardFolders(directory, options.client)
            let catalog = BoardCatalog(folders: choice.folders)
            let definitions = try catalog.names.map { try catalog.definition(named: $0) }
            let current = choice.current ?? (try? catalog.detect())?.definition.name
            if options.json {
                Terminal.line(
                    JSON.array(
                        definitions.map { definition in
                            [
                                "name": .string(definition.name), "title": .string(definition.title),
                                "isThisBoard": .bool(definition.name == current),
                                "sensors": .integer(Int64(definition.sensors.count)),
                            ]
                        }
                    ).text)
                return
            }
            guard !definitions.isEmpty else {
                Terminal.line(
                    "no definitions in \(catalog.folders.joined(separator: ", ")); name their folder with --directory")
                return
            }
            var fields = Fields()
            for definition in definitions {
                let mark = definition.name == current ? Terminal.standardOutput.green("  this board") : ""
                fields.add(
                    definition.name,
                    "\(definition.title), \(Amount.of(Int64(definition.sensors.count), "sensor"))\(mark)")
            }
            Terminal.line(fields.text)
        }
    }

    struct Watch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "watch", abstract: "Print readings as they are sent, until Ctrl-C.")
        @Option(help: ArgumentHelp("End after this many sample sets.", valueName: "n")) var count: Int?
        @OptionGroup var options: ClientOptions

        func validate() throws {
            guard count ?? 1 > 0 else { throw ValidationError("--count is 1 or more") }
        }

        func run() async throws {
            let client = options.client
            if !options.json {
                for reading in try await client.get("/v1/sensors")["readings"]?.array ?? [] {
                    Terminal.line(text(of: reading))
                }
            }
            var received = 0
            try await Following(client: client, path: "/v1/sensors/stream", isKnown: !options.json).run { event in
                if options.json {
                    Terminal.json(event.data)
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
            guard let number = reading["value"]?.number else { return "\(name) \(out.red("no value"))" }
            let (value, unit) = Amount.reading(number, unit: reading["unit"]?.string ?? "")
            let doubt = reading["quality"]?.string == "good" ? "" : "  " + out.yellow(reading["quality"]?.string ?? "")
            return "\(name) \(value)\(unit.isEmpty ? "" : " " + out.dim(unit))\(doubt)"
        }
    }

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Look for every part that a board definition names.",
            discussion:
                "Without a name, the daemon looks for the parts of its own board; if none answers, the settings say which "
                + "board this is. Exit status 1 when a part is missing that the definition does not call optional.")

        @Argument(help: "Name of a definition, or a path; without it, this board's.") var definition: String?
        @Option(help: "Folder to search, without the daemon; may be repeated.") var directory: [String] = []
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let report = try await report()
            let parts = report["parts"]?.array ?? []
            options.show(["board": report["name"] ?? .null, "parts": .array(parts)]) { _ in
                ([Terminal.standardOutput.bold(report["title"]?.string ?? "")] + parts.map(text)).joined(
                    separator: "\n")
            }
            guard !parts.contains(where: { $0["verdict"]?.string == "fault" }) else {
                throw ExitCode(ExitStatus.failure.rawValue)
            }
        }

        /// The report, in the form of `GET /v1/board`.
        private func report() async throws -> JSON {
            let choice = try await BoardFolders(directory, options.client)
            if definition == nil, directory.isEmpty, let report = choice.report { return report }
            var settings = choice.settings
            settings.directories = choice.folders
            if let definition { settings.definition = definition }
            let board = try settings.read().definition
            return [
                "name": .string(board.name), "title": .string(board.title),
                "parts": .array(await BoardCheck.run(board).map(\.json)),
            ]
        }

        private func text(of part: JSON) -> String {
            let out = Terminal.standardOutput
            let name = part["part"]?.string ?? "?"
            switch part["verdict"]?.string {
            case "fault":
                let remedy = part["error"]?["remedy"]?.string.map { "\n      \($0)" } ?? ""
                let message = part["error"]?["message"]?.string ?? ""
                return "\(out.red("fault"))       \(name.padded(to: 28)) \(message)\(remedy)"
            case "not-fitted": return "\(out.dim("not fitted"))  \(name)"
            case "simulated": return "\(out.yellow("simulated"))   \(name)"
            default:
                guard let reading = part["reading"], let value = reading["value"]?.number else {
                    return "\(out.green("present"))     \(name)"
                }
                let (number, unit) = Amount.reading(value, unit: reading["unit"]?.string ?? "")
                let shown = unit.isEmpty ? number : "\(number) \(unit)"
                return "\(out.green("present"))     \(name.padded(to: 28)) \(shown)"
            }
        }
    }
}

extension String {
    /// Padded with trailing blanks to at least this width.
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
