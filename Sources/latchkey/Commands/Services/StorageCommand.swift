import ArgumentParser
import Groundwork

/// Where an item is, and whose it is.
struct PlaceOptions: ParsableArguments {
    @Flag(help: "At the gateway, not on this board.") var cloud = false
    @Option(help: "Owner: application, application-user, or with --cloud user.") var segment = "application"

    /// The route of all items, or of one.
    func route(_ item: String = "") -> String { "storage/" + (cloud ? "cloud" : "local") + item }
}

struct StorageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storage",
        abstract: "Keep values under keys, sealed on this board or at the gateway.",
        discussion: """
            What is stored on this board is in its vault, if local in [storage] of the settings is true. What is \
            stored at the gateway is the application's, the user's, or the user's in this application, and other \
            devices can read it, unless it is sealed on this board before it leaves.

              $ latchkey storage save door.code 4711
              $ latchkey storage save --cloud --segment user greeting hello
              $ latchkey storage save --cloud --sealed backup.key 4711
              $ latchkey storage find door.code
            """,
        subcommands: [List.self, Save.self, Find.self, Delete.self], defaultSubcommand: List.self)

    struct List: RouteCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List the keys.")
        @OptionGroup var place: PlaceOptions
        @OptionGroup var options: AccountOptions

        func request() -> RouteRequest {
            .get(place.route(), query: ["segment": place.segment], timeout: .seconds(90))
        }

        func text(of answer: JSON) -> String {
            Table.text(of: answer["items"], ["KEY", "TYPE", "SAVED", ""]) { item in
                [
                    item["key"]?.string ?? "?", item["type"]?.string ?? "", item["modified"]?.string ?? "",
                    item["encrypted"]?.bool == true ? "encrypted" : "",
                ]
            }
        }
    }

    struct Save: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "save", abstract: "Save a value, or replace one.")
        @Argument(help: "The key.") var key: String
        @Argument(help: "The value; without it, standard input.") var value: String?
        @Option(help: "MIME type of the value.") var type = "text/plain"
        @Flag(help: "Encrypt it with a password, which is asked for, or read from standard input in a pipe.")
        var password = false
        @Flag(help: "With --cloud: seal it before it leaves, so that only this board can read it.") var sealed = false
        @OptionGroup var place: PlaceOptions
        @OptionGroup var options: AccountOptions

        func validate() throws {
            guard !sealed || place.cloud else { throw ValidationError("--sealed requires --cloud") }
            guard !password || value != nil else {
                throw ValidationError("--password reads standard input; give the value as an argument")
            }
            guard !password || !place.cloud else { throw ValidationError("--password is for this board, not --cloud") }
        }

        func request() throws -> RouteRequest {
            let bytes = try value.map { Array($0.utf8) } ?? Input.typed("the value", limit: 64 << 10)
            return .post(
                place.route(),
                [
                    "key": .string(key), "value": .string(Base64.encode(bytes)), "encoding": "base64",
                    "type": .string(type), "segment": .string(place.segment), "sealed": sealed ? true : nil,
                    "password": password ? .string(try Self.password(ask: "Password of the item: ")) : nil,
                ], timeout: .seconds(90))
        }

        func text(of answer: JSON) -> String { "saved \(key)" }

        static func password(ask prompt: String) throws(InputError) -> String {
            Terminal.inputIsTerminal ? try Input.withoutEcho(prompt) : try Input.line()
        }
    }

    struct Find: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "find",
            abstract: "Write a value to standard output.", discussion: "Ends with status 1 when there is none.")
        @Argument(help: "The key.") var key: String
        @Flag(help: "Decrypt it with its password, which is asked for, or read from standard input in a pipe.")
        var password = false
        @Flag(help: "With --cloud: refuse what this board has not sealed.") var sealed = false
        @OptionGroup var place: PlaceOptions
        @OptionGroup var options: AccountOptions

        func validate() throws {
            guard !sealed || place.cloud else { throw ValidationError("--sealed requires --cloud") }
            guard !password || !place.cloud else { throw ValidationError("--password is for this board, not --cloud") }
        }

        func run() async throws {
            let item = try await options.send(request())
            guard !options.json else { return Terminal.json(item) }
            Terminal.content(item["value"]?.string.flatMap { Base64.decode($0) } ?? [])
            if Terminal.standardOutput.isTerminal { Terminal.line() }
        }

        private func request() throws -> RouteRequest {
            guard password else {
                return .get(
                    place.route("/item"),
                    query: ["segment": place.segment, "key": key, "sealed": sealed ? "true" : nil],
                    timeout: .seconds(90))
            }
            return .post(
                place.route("/item"),
                [
                    "key": .string(key), "segment": .string(place.segment),
                    "password": .string(try Save.password(ask: "Password of the item: ")),
                ], timeout: .seconds(90))
        }
    }

    struct Delete: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a value, or all of a segment on this board.", discussion: "Asks before it deletes all.")
        @Argument(help: "The key.") var key: String?
        @Flag(help: "All of the segment.") var all = false
        @Flag(help: "Do not ask for confirmation.") var yes = false
        @OptionGroup var place: PlaceOptions
        @OptionGroup var options: AccountOptions

        func validate() throws {
            guard (key == nil) == all else { throw ValidationError("give a key, or --all") }
            guard !all || !place.cloud else { throw ValidationError("--all is for this board, not --cloud") }
        }

        func confirm() throws {
            if all { try Confirmation.ask("this deletes all values of the segment \(place.segment)", isGiven: yes) }
        }

        func request() -> RouteRequest {
            .delete(
                place.route(all ? "" : "/item"), query: ["segment": place.segment, "key": key], timeout: .seconds(90))
        }

        func text(of answer: JSON) -> String { "deleted \(Amount.of(answer["deleted"]?.integer ?? 0, "value"))" }
    }
}
