import ArgumentParser
import Groundwork
import LocalAPI

struct Consent: AsyncParsableCommand, Listed {
    static let configuration = CommandConfiguration(
        commandName: "consent",
        abstract: "List devices that ask to be let in, and answer them.",
        subcommands: [List.self, Grant.self, Refuse.self, Ask.self], defaultSubcommand: List.self)

    static let list = ListRoute(
        "List pending requests.", "proximity/consents", member: "consents", orElse: "no pending requests")

    struct Grant: RouteCommand {
        static let configuration = CommandConfiguration(commandName: "grant", abstract: "Let a device in.")
        @Argument(help: "The question's number.") var number: Int
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest { .post("proximity/consents/\(number)", ["grant": true]) }

        func text(of answer: JSON) -> String { "granted" }
    }

    struct Refuse: RouteCommand {
        static let configuration = CommandConfiguration(commandName: "refuse", abstract: "Refuse a device.")
        @Argument(help: "The question's number.") var number: Int
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest { .post("proximity/consents/\(number)", ["grant": false]) }

        func text(of answer: JSON) -> String { "refused" }
    }

    struct Ask: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ask",
            abstract: "Ask here each time a device wants to be let in, until Ctrl-C.")
        @OptionGroup var options: ClientOptions

        func run() async throws {
            Terminal.error("Waiting for requests …")
            let following = Following(client: options.client, path: "/v1/events", isKnown: true)
            try await following.open()
            let waiting = try await options.client.get("/v1/proximity/consents")["consents"]?.array ?? []
            for question in waiting { guard try await ask(question) else { return } }
            // What was asked between both is in both.
            let known = Set(waiting.compactMap { $0["id"]?.integer })
            try await following.run { event in
                guard event.name == "proximity.consent-asked", event.data["id"]?.integer.map(known.contains) != true
                else { return true }
                return try await ask(event.data)
            }
        }

        /// - Returns: whether there is still someone to ask.
        private func ask(_ question: JSON) async throws -> Bool {
            guard let id = question["id"]?.integer else { return true }
            Input.dropTyped()
            let text = "\(Consent.describe(question))  Let it in? [y/N]"
            options.json ? Terminal.error(text) : Terminal.line(text)
            guard let answer = readLine() else { return false }
            do {
                let isGranted = ["y", "yes"].contains(answer.lowercased())
                let result = try await options.send(.post("proximity/consents/\(id)", ["grant": .bool(isGranted)]))
                options.show(result) { _ in isGranted ? "granted" : "refused" }
            } catch LocalAPIError.remote(_, let explanation) where explanation.kind == .notFound {
                Terminal.error("latchkey: \(explanation.message)")
            }
            return true
        }
    }

    static func describe(_ question: JSON) -> String {
        let name = question["name"]?.string.map { "“\($0)”" } ?? "a device without a name"
        let address = question["address"]?.string ?? "by QR code"
        return Terminal.standardOutput.shown("\(question["id"]?.integer ?? 0)  \(name)  \(address)")
    }
}
