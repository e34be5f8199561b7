import ArgumentParser
import Groundwork

struct GatewayCommand: AsyncParsableCommand, Listed {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Show, switch, stop or start the gateway connection.",
        discussion: """
            The board keeps its registration at each gateway that it was enrolled at, and goes back to one without a \
            new URL. While the connection to the gateway is stopped, nothing is sent to the gateway or the broker; \
            sensors go on, and messages wait here.

              $ latchkey gateway list
              $ latchkey gateway use gw.example
              $ latchkey gateway stop
            """,
        subcommands: [Show.self, List.self, Use.self, Stop.self, Start.self], defaultSubcommand: Show.self)

    static let list = ListRoute(
        "List the gateways that the board knows.", "gateways", orElse: "no gateways; enroll with: latchkey enroll -")

    static func describe(_ gateway: JSON) -> String {
        var parts = [gateway["url"]?.string ?? "?"]
        parts.append(gateway["registered"]?.bool == true ? "registered" : "not registered")
        if let account = gateway["account"]?.string { parts.append("in use by the account \(account)") }
        if gateway["stopped"]?.bool == true { parts.append("stopped") }
        return parts.joined(separator: ", ")
    }

    struct Show: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show the configuration: gateway, application, device and endpoints.")
        @OptionGroup var options: AccountOptions

        func request() -> RouteRequest { .get("gateway") }

        func text(of answer: JSON) -> String {
            let out = Terminal.standardOutput
            var fields = Fields()
            fields.add("gateway", answer["gateway"]?["url"]?.string)
            fields.add("state", answer["start"]?["state"]?.string)
            let application = answer["application"]
            for (label, member) in [
                ("application", "name"), ("organization", "organization"), ("description", "description"),
                ("environment", "environment"), ("registered by", "registeredBy"), ("client", "masterClientID"),
                ("scope", "scope"), ("redirect", "redirectURI"),
            ] { fields.add(label, application?[member]?.string.map(out.shown)) }
            fields.add("device name", answer["device"]?["name"]?.string.map(out.shown))
            fields.add("registration", answer["device"]?["registration"]?["state"]?.string)
            fields.add("certificate", answer["device"]?["certificateEnds"]?.string.map { "until \($0)" })
            let trust = answer["trust"]
            var proofs = [
                Amount.of(trust?["certificates"]?.integer ?? 0, "certificate"),
                Amount.of(trust?["pins"]?.integer ?? 0, "pin"),
            ]
            if trust?["publicAuthorities"]?.bool == true { proofs.append("public authorities") }
            fields.add("trust", proofs.joined(separator: ", "))
            for group in ["customEndpoints", "endpoints"] {
                for endpoint in answer[group]?.array ?? [] {
                    fields.add(
                        "@" + out.shown(endpoint["name"]?.string ?? ""), endpoint["path"]?.string.map(out.shown))
                }
            }
            return fields.text
        }
    }

    struct Use: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "use",
            abstract: "Switch to a gateway that the board knows.",
            discussion: "The gateway in use is kept too. What waits for its broker stays on the board until then.")
        @Argument(help: "Its URL, or its host with or without the port; see 'latchkey gateway list'.") var name: String?
        @Flag(help: "The gateway of the default document that the settings name.") var `default` = false
        @OptionGroup var options: AccountOptions

        func validate() throws {
            guard (name == nil) == `default` else { throw ValidationError("give one gateway, or --default") }
        }

        func request() -> RouteRequest {
            .post(
                "gateway/use", name.map { ["gateway": .string($0)] } ?? ["default": true], timeout: .seconds(180),
                saying: "switching to the gateway")
        }

        func text(of answer: JSON) -> String { Enroll.describe(answer) }
    }

    struct Stop: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "stop",
            abstract: "Stop the connections to the gateway and the broker.",
            discussion: """
                It stays stopped when the agent or the board restarts. Readings and messages are still accepted, and \
                wait.
                """)
        @OptionGroup var options: AccountOptions

        func request() -> RouteRequest { .post("gateway/stop", timeout: .seconds(60)) }

        func text(of answer: JSON) -> String { answer["start"]?["state"]?.string ?? "" }
    }

    struct Start: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "start", abstract: "Restart the gateway connection.")
        @OptionGroup var options: AccountOptions

        func request() -> RouteRequest { .post("gateway/start", timeout: .seconds(60)) }

        func text(of answer: JSON) -> String { answer["start"]?["state"]?.string ?? "" }
    }
}
