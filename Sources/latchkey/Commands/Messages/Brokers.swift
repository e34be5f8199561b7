import ArgumentParser
import Groundwork

/// Which broker a command uses.
struct BrokerOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Use this broker from [[brokers]] in the settings; topics are complete, and nothing is kept.",
            valueName: "name"))
    var broker: String?

    /// What its routes begin with; `nil` without a broker.
    var path: String? { broker.map { "/v1/brokers/\($0.segment)" } }
}

struct Brokers: AsyncParsableCommand, Listed {
    static let configuration = CommandConfiguration(
        commandName: "brokers",
        abstract: "Show the brokers besides the gateway's, and end their connections.",
        discussion: """
            They are in the settings, [[brokers]] of latchkey.toml, with their credentials. A connection is made when \
            the first program publishes or subscribes, and ends half a minute after the last.

              $ latchkey publish --broker plant line/3/state running
              $ latchkey subscribe --broker plant 'line/#'
              $ latchkey brokers disconnect plant
            """,
        subcommands: [List.self, Disconnect.self], defaultSubcommand: List.self)

    static let list = ListRoute(
        "List the brokers with the state of their connections.", "brokers", orElse: "no brokers in the settings")

    struct Disconnect: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "disconnect",
            abstract: "End a connection, with the subscriptions that all programs have there.")
        @Argument(help: "The broker's name in the settings.") var name: String
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest { .post("brokers/\(name.segment)/disconnect") }

        func text(of answer: JSON) -> String {
            answer["disconnected"]?.bool == true ? "disconnected" : "there was no connection"
        }
    }

    static func describe(_ broker: JSON) -> String {
        let out = Terminal.standardOutput
        let error = broker["lastError"]?["message"]?.string.map { ": " + out.red(out.shown($0)) } ?? ""
        return out.shown(
            "\(broker["name"]?.string ?? "?")  \(broker["address"]?.string ?? "?")  \(broker["state"]?.string ?? "?")")
            + (broker["tls"]?.bool == true ? "" : out.yellow("  without TLS")) + error
    }
}
