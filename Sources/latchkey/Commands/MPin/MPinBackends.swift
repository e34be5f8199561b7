#if MPin
import ArgumentParser
import Groundwork
import LocalAPI

struct MPinBackends: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backend",
        abstract: "Test, add, list and remove M-Pin back ends.",
        subcommands: [Test.self, Show.self, Add.self, List.self, Remove.self], defaultSubcommand: List.self)

    /// What is sent with requests to a back end, and whom to trust as one.
    struct Sender: ParsableArguments {
        @Option(help: ArgumentHelp("Client ID of the board, if the back end requires one.", valueName: "id"))
        var clientID: String?
        @Option(help: ArgumentHelp("Sent with each request; may be repeated.", valueName: "name: value"))
        var header: [String] = []
        @Option(help: ArgumentHelp("Trust only these certificates, a PEM file.", valueName: "file"))
        var authorities: String?

        func validate() throws {
            for line in header where !line.contains(":") {
                throw ValidationError("a header has the form 'name: value', not '\(line)'")
            }
        }

        func body() throws -> [String: JSON] {
            var body: [String: JSON] = [:]
            body["clientID"] = clientID.map(JSON.string)
            if !header.isEmpty {
                var headers: [String: JSON] = [:]
                for line in header {
                    let name = line.prefix { $0 != ":" }
                    headers[String(name)] = .string(String(line.dropFirst(name.count + 1)).trimmed)
                }
                body["headers"] = .object(headers)
            }
            if let authorities {
                let bytes = try Input.file(authorities, limit: 1 << 18)
                body["authorities"] = .string(ReceivedText.decodeWherePossible(bytes))
            }
            return body
        }
    }

    /// Where a back end is.
    struct Place: ParsableArguments {
        @Argument(help: "The base URL of the back end.") var url: String
        @Option(help: ArgumentHelp("The path of its relying-party service; by default rps.", valueName: "path"))
        var prefix: String?
        @OptionGroup var sender: Sender

        func body() throws -> [String: JSON] {
            var body = try sender.body()
            body["url"] = .string(url)
            body["prefix"] = prefix.map(JSON.string)
            return body
        }
    }

    struct Test: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "test",
            abstract: "Check whether there is a back end at a URL or at an account's URL.",
            discussion: "No other part of the agent contacts a back end by itself.")
        @OptionGroup var place: Place
        @OptionGroup var options: ClientOptions

        func request() throws -> RouteRequest {
            if (try? AccountOption.name(place.url)) != nil {
                return .post("accounts/\(place.url)/mpin/test", timeout: .seconds(90))
            }
            return .post("mpin/test", try place.body(), timeout: .seconds(90))
        }

        func text(of answer: JSON) -> String {
            "there is an M-Pin back end at \(Terminal.standardOutput.shown(answer["url"]?.string ?? "?"))"
        }
    }

    struct Show: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show the back end that the address in a scanned code leads to.",
            discussion: "What follows a '#' is not sent: that is the code for 'latchkey mpin access-number'.")
        @Argument(help: "The address, as scanned; in quotes, because of its '#'.") var code: String
        @OptionGroup var sender: Sender
        @OptionGroup var options: ClientOptions

        func request() throws -> RouteRequest {
            var body = try sender.body()
            body["code"] = .string(code)
            return .post("mpin/service", body, timeout: .seconds(90))
        }

        func text(of answer: JSON) -> String {
            let out = Terminal.standardOutput
            var fields = Fields()
            for name in ["name", "url", "prefix"] { fields.add(name, answer[name]?.string.map(out.shown)) }
            fields.add("logo", answer["logoURL"]?.string.map(out.shown))
            let next = "make it an account: latchkey mpin backend add NAME URL --prefix PREFIX"
            return fields.text + "\n" + out.dim(next)
        }
    }

    struct Add: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add an account at a back end, which must answer.")
        @Argument(help: "The name of the account.") var name: String
        @OptionGroup var place: Place
        @OptionGroup var options: ClientOptions

        func validate() throws { _ = try AccountOption.name(name) }

        func request() throws -> RouteRequest {
            .post("accounts/\(name)/mpin", try place.body(), timeout: .seconds(90))
        }

        func text(of answer: JSON) -> String {
            "\(name) is an account at an M-Pin back end; next: latchkey mpin user new ID"
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the back ends with their users.")
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let all = try await MPinAccountOption.all(of: options.client)
            options.show(["accounts": .array(all)]) {
                $0.lines("accounts", orElse: "there is no M-Pin back end", Self.describe)
            }
        }

        private static func describe(_ account: JSON) -> String {
            let out = Terminal.standardOutput
            let head = "\(account["name"]?.string ?? "?")  \(out.shown(account["backend"]?["url"]?.string ?? "?"))"
            let fault = account["lastError"]?["message"]?.string.map { out.red("  unusable: \(out.shown($0))") }
            let users = (account["users"]?.array ?? []).map { "  " + MPinCommand.describe($0) }
            return ([head + (fault ?? "")] + users).joined(separator: "\n")
        }
    }

    struct Remove: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove a back end with all its users, whose tokens are erased.")
        @Argument(help: "The name of the account.") var name: String
        @Flag(help: "Do not ask for confirmation.") var yes = false
        @OptionGroup var options: ClientOptions

        func validate() throws { _ = try AccountOption.name(name) }

        func confirm() async throws {
            let account = try await options.send(.get("accounts/\(name)"))
            guard account["kind"]?.string == "mpin" else { throw ValidationError("\(name) is not an M-Pin back end") }
            let count = Int64(account["users"]?.array?.count ?? 0)
            try Confirmation.ask(
                "this erases the account \(name) and \(Amount.of(count, "user"))", isGiven: yes || count == 0)
        }

        func request() -> RouteRequest { .delete("accounts/\(name)") }

        func text(of answer: JSON) -> String { "removed the account \(answer["removed"]?.string ?? "")" }
    }
}
#endif
