import ArgumentParser
import Groundwork
import LocalAPI

struct Setup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Connect this board: asks what there is, tries it, and shows the first reading that arrives.",
        discussion: """
            The other side is a mobile API gateway, whose administrator gives you an enrollment URL; an MQTT broker; or \
            an OAuth 2.0 or OpenID Connect server. What fails is said with the reason, and asked again. For images, \
            --answers reads the answers from a TOML file:

              broker = "mqtts://broker.lan"      # or enrollment = "URL", or issuer = "URL"
              user = "board"
              password_file = "/etc/latchkey/password"
              authorities = "/etc/latchkey/ca.pem"

              $ latchkey setup
              $ latchkey setup --answers answers.toml
            """)

    @Option(help: ArgumentHelp("Read the answers from this file, and ask nothing.", valueName: "file"))
    var answers: String?
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let client = options.client
        let status = try await client.get("/v1/status")
        if let place = Self.place(in: status) {
            return options.show(["done": true, "place": .string(place)]) { _ in
                "this board is set up already: \(place); see latchkey status, or add more with latchkey accounts add"
            }
        }
        guard answers != nil || Terminal.inputIsTerminal else {
            throw UsageError.invalid(
                message: "there is no terminal to ask at", usage: "give the answers in a file: --answers FILE")
        }
        let given = try answers.map { try SetupAnswers(file: $0) }
        let way = try given?.way ?? Self.chooseWay()
        switch way {
        case .gateway(let url): try await enroll(url, client)
        case .broker(let broker):
            guard try await BrokerSetup(client: client, isAsking: given == nil).run(broker) else {
                return options.show(["done": true, "connected": false]) { _ in
                    "the board goes on trying; messages wait here until then: latchkey status"
                }
            }
        case .server(let issuer): return try await addServer(issuer, client)
        }
        let arrival = try await FirstReading(client: client).wait()
        let place = Self.place(in: try await client.get("/v1/status"))
        options.show(
            ["done": true, "connected": true, "place": place.map(JSON.string) ?? .null, "arrived": arrival.json]
        ) { _ in arrival.text }
    }

    /// Where the board's messages go already; `nil` if nowhere.
    private static func place(in status: JSON) -> String? {
        if let url = status["gateway"]?["url"]?.string { return "the gateway \(url)" }
        return status["broker"]?["address"]?.string.map { "the broker \($0)" }
    }

    /// - Returns: `nil` at the end of the input.
    private static func chooseWay() throws -> SetupAnswers.Way {
        Terminal.error("What does this board connect to?")
        Terminal.error("  1  an MQTT broker, such as Mosquitto")
        Terminal.error("  2  a mobile API gateway: you have an enrollment URL")
        Terminal.error("  3  an OAuth 2.0 or OpenID Connect server")
        while true {
            switch try ask("Number [1]: ") {
            case "", "1": return .broker(BrokerAnswers())
            case "2": return .gateway(try ask("Enrollment URL: "))
            case "3": return .server(try ask("Issuer, such as https://id.example: "))
            default: Terminal.error("Answer 1, 2 or 3.")
            }
        }
    }

    /// - Throws: ``Declined`` at the end of the input.
    static func ask(_ question: String) throws -> String {
        guard let answer = Input.answer(to: question) else { throw Declined() }
        return answer.trimmed
    }

    private func enroll(_ url: String, _ client: LocalClient) async throws {
        let body = try Enroll.body(in: url, of: "the answer")
        let answer = try await ProgressLine.show("enrolling") {
            try await client.post("/v1/enrollments", body, timeout: .seconds(180))
        }
        if !options.json { Terminal.line(Enroll.describe(answer)) }
    }

    private func addServer(_ issuer: String, _ client: LocalClient) async throws {
        let answer = try await ProgressLine.show("asking the server") {
            try await client.post(
                "/v1/accounts", ["name": "cloud", "issuer": .string(issuer), "register": true], timeout: .seconds(120))
        }
        options.show(["done": true, "account": answer]) { _ in
            Accounts.details(answer)
                + "\nNext: latchkey login --account cloud. Readings need a broker too: latchkey setup"
        }
    }
}
