import ArgumentParser
import Groundwork
import LocalAPI

struct Consent: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "consent",
        abstract: "Show which devices ask to be let in, and answer.",
        subcommands: [List.self, Grant.self, Refuse.self, Ask.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List pending requests.")
        @OptionGroup var options: ClientOptions

        func run() async throws {
            options.show(
                try await options.client.get("/v1/proximity/consents"), each: "consents", orElse: "no pending requests",
                Consent.line)
        }
    }

    struct Grant: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "grant", abstract: "Let a device in.")
        @Argument(help: "The question's number.") var number: Int
        @OptionGroup var options: ClientOptions

        func run() async throws { try await Consent.answer(number, true, options) }
    }

    struct Refuse: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "refuse", abstract: "Refuse a device.")
        @Argument(help: "The question's number.") var number: Int
        @OptionGroup var options: ClientOptions

        func run() async throws { try await Consent.answer(number, false, options) }
    }

    struct Ask: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ask",
            abstract: "Ask here each time a device wants to be let in, until Ctrl-C.")
        @OptionGroup var options: ClientOptions

        func run() async throws {
            Terminal.error("Waiting for devices that ask …")
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
            let text = "\(Consent.line(question))  Let it in? [y/N]"
            options.json ? Terminal.error(text) : Terminal.line(text)
            guard let answer = readLine() else { return false }
            do {
                try await Consent.answer(Int(id), ["y", "yes"].contains(answer.lowercased()), options)
            } catch LocalAPIError.remote(_, let explanation) where explanation.kind == .notFound {
                Terminal.error("latchkey: \(explanation.message)")
            }
            return true
        }
    }

    private static func line(_ question: JSON) -> String {
        let name = question["name"]?.string.map { "“\($0)”" } ?? "a device without a name"
        let address = question["address"]?.string ?? "by QR code"
        return Terminal.standardOutput.shown("\(question["id"]?.integer ?? 0)  \(name)  \(address)")
    }

    private static func answer(_ number: Int, _ grant: Bool, _ options: ClientOptions) async throws {
        let answer = try await options.client.post("/v1/proximity/consents/\(number)", ["grant": .bool(grant)])
        options.show(answer) { _ in grant ? "granted" : "refused" }
    }
}
