import ArgumentParser
import Groundwork
import LocalAPI

struct ProximityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proximity", abstract: "Login with nearby devices: its state, and who was let in.",
        subcommands: [Standing.self, Audit.self, Pair.self], defaultSubcommand: Standing.self)

    struct Standing: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status", abstract: "Show the adapter, whether the session is shared, and pending requests.")
        @Flag(name: .shortAndLong, help: "Show each step as it happens, until Ctrl-C.") var follow = false
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let following = Following(client: options.client, path: "/v1/events", isKnown: true)
            if follow { try await following.open() }
            options.show(try await options.client.get("/v1/proximity"), describe)
            guard follow else { return }
            try await following.run { event in
                if event.name.hasPrefix("proximity.") {
                    if options.json { Terminal.json(event.data) } else { Terminal.line(EventLine(event).text) }
                }
                return true
            }
        }

        private func describe(_ report: JSON) -> String {
            let out = Terminal.standardOutput
            var fields = Fields()
            let adapter = report["bluetooth"]
            if let message = adapter?["error"]?["message"]?.string {
                fields.add("bluetooth", out.yellow(message))
                fields.add("", adapter?["error"]?["remedy"]?.string)
            } else {
                fields.add(
                    "bluetooth",
                    [
                        adapter?["adapter"]?.string, adapter?["address"]?.string,
                        adapter?["transport"]?.string.map { "through \($0)" },
                    ].compactMap(\.self).joined(separator: ", "))
            }
            fields.add("sharing", Self.sharing(report, out))
            fields.add("policy", report["policy"]?.string)
            let waiting = "\(report["consents"]?.array?.count ?? 0)"
            fields.add(
                "waiting",
                report["ambiguous"] == true ? out.yellow("\(waiting), the button lets none of them in") : waiting)
            return fields.text
        }

        private static func sharing(_ report: JSON, _ out: Terminal) -> String {
            guard report["sharing"]?.bool == true else { return "no" }
            guard report["onAir"]?.bool == true else { return out.yellow("interrupted, until Bluetooth is back") }
            return out.green(report["term"] == "once" ? "yes, until one device was let in" : "yes")
        }
    }

    struct Pair: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "pair",
            abstract: "Let devices nearby pair for a while, where only bonded ones may ask to be let in.",
            discussion:
                "Needed with proximity.require_encryption and bluetoothd. Only the bond of a device that is let in is kept."
        )
        @Option(name: .customLong("for"), help: ArgumentHelp("Seconds, 1 to 300.", valueName: "n")) var seconds = 60
        @OptionGroup var options: ClientOptions

        func validate() throws {
            guard (1...300).contains(seconds) else { throw ValidationError("--for is 1 to 300") }
        }

        func request() -> RouteRequest { .post("proximity/pairing", ["seconds": .integer(Int64(seconds))]) }

        func text(of answer: JSON) -> String { "devices can pair for \(seconds) s" }
    }

    struct Audit: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "audit", abstract: "Show who asked to be let in, and the outcome.")
        @Option(help: ArgumentHelp("Show the newest N entries.", valueName: "n")) var count = 20
        @OptionGroup var options: ClientOptions

        func validate() throws {
            guard (1...1000).contains(count) else { throw ValidationError("--count is 1 to 1000") }
        }

        func request() -> RouteRequest { .get("proximity/audit?count=\(count)") }

        func text(of answer: JSON) -> String { answer.lines("records", orElse: "no requests yet", line) }

        private func line(_ record: JSON) -> String {
            let out = Terminal.standardOutput
            let outcome = record["outcome"]?.string ?? "?"
            let who =
                "\(record["name"]?.string ?? "without a name")  \(record["address"]?.string ?? record["way"]?.string ?? "")"
            let name = record["user"]?.string.map { " in the name of \($0)" } ?? ""
            let by = record["by"]?.string.map { " by \($0)" } ?? ""
            let how = "\(record["decision"]?.string ?? "?")\(by)\(name)"
            let shown = outcome == "authorized" ? out.green(outcome) : out.yellow(outcome)
            return "\(out.dim(record["time"]?.string ?? ""))  \(shown)  \(out.shown("\(who)  \(how)"))"
        }
    }
}
