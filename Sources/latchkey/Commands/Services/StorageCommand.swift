import ArgumentParser
import Groundwork
import LocalAPI

/// Where an item is, and whose it is.
struct PlaceOptions: ParsableArguments {
    @Flag(help: "At the gateway, not on this board.") var cloud = false
    @Option(help: "Whose: application, application-user, or with --cloud user.") var segment = "application"

    /// - Parameters:
    ///   - item: the path below the place.
    ///   - sealed: whether an item that is not sealed is refused.
    func path(
        _ account: AccountOption, _ item: String = "", key: String? = nil, sealed: Bool = false, by client: LocalClient
    ) async throws(LocalAPIError) -> String {
        try await account.path("storage/" + (cloud ? "cloud" : "local") + item, by: client)
            + QueryText(["segment": segment, "key": key, "sealed": sealed ? "true" : nil]).text
    }
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

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List the keys.")
        @OptionGroup var place: PlaceOptions
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func run() async throws {
            options.show(try await options.client.get(place.path(account, by: options.client), timeout: .seconds(90))) {
                answer in
                var table = Table("KEY", "TYPE", "SAVED", "")
                for item in answer["items"]?.array ?? [] {
                    table.add(
                        item["key"]?.string ?? "?", item["type"]?.string ?? "", item["modified"]?.string ?? "",
                        item["encrypted"]?.bool == true ? "encrypted" : "")
                }
                return table.text
            }
        }
    }

    struct Save: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "save", abstract: "Save a value, new or in place of an earlier one.")
        @Argument(help: "The key.") var key: String
        @Argument(help: "The value; without it, standard input.") var value: String?
        @Option(help: "MIME type of the value.") var type = "text/plain"
        @Flag(help: "Encrypt it with a password, which is asked for, or read from standard input in a pipe.")
        var password = false
        @Flag(help: "With --cloud: seal it before it leaves, so that only this board can read it.") var sealed = false
        @OptionGroup var place: PlaceOptions
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func validate() throws {
            guard !sealed || place.cloud else { throw ValidationError("--sealed goes with --cloud") }
            guard !password || value != nil else {
                throw ValidationError("--password reads standard input; give the value as an argument")
            }
            guard !password || !place.cloud else { throw ValidationError("--password is for this board, not --cloud") }
        }

        func run() async throws {
            let bytes = try value.map { Array($0.utf8) } ?? Input.typed("the value", limit: 64 << 10)
            var body: [String: JSON] = [
                "key": .string(key), "value": .string(Base64.encode(bytes)), "encoding": "base64",
                "type": .string(type), "segment": .string(place.segment),
            ]
            if sealed { body["sealed"] = true }
            if password { body["password"] = .string(try Self.password(ask: "Password of the item: ")) }
            let path = try await account.path("storage/" + (place.cloud ? "cloud" : "local"), by: options.client)
            options.show(try await options.client.post(path, .object(body), timeout: .seconds(90))) { _ in
                "saved \(key)"
            }
        }

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
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func validate() throws {
            guard !sealed || place.cloud else { throw ValidationError("--sealed goes with --cloud") }
            guard !password || !place.cloud else { throw ValidationError("--password is for this board, not --cloud") }
        }

        func run() async throws {
            let item: JSON
            if password {
                let body: JSON = [
                    "key": .string(key), "segment": .string(place.segment),
                    "password": .string(try Save.password(ask: "Password of the item: ")),
                ]
                item = try await options.client.post(
                    account.path("storage/local/item", by: options.client), body, timeout: .seconds(90))
            } else {
                item = try await options.client.get(
                    place.path(account, "/item", key: key, sealed: sealed, by: options.client), timeout: .seconds(90))
            }
            guard !options.json else { return options.show(item) { _ in "" } }
            Terminal.content(item["value"]?.string.flatMap { Base64.decode($0) } ?? [])
            if Terminal.standardOutput.isTerminal { Terminal.line() }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a value, or all of a segment on this board.", discussion: "Asks before it deletes all.")
        @Argument(help: "The key.") var key: String?
        @Flag(help: "All of the segment.") var all = false
        @Flag(help: "Do not ask for confirmation.") var yes = false
        @OptionGroup var place: PlaceOptions
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func validate() throws {
            guard (key == nil) == all else { throw ValidationError("give a key, or --all") }
            guard !all || !place.cloud else { throw ValidationError("--all is for this board, not --cloud") }
        }

        func run() async throws {
            if all { try Confirmation.ask("this deletes all values of the segment \(place.segment)", isGiven: yes) }
            let client = options.client
            let path =
                try await all
                ? place.path(account, by: client) : place.path(account, "/item", key: key, by: client)
            options.show(try await options.client.delete(path, timeout: .seconds(90))) {
                "deleted \(Amount.of($0["deleted"]?.integer ?? 0, "value"))"
            }
        }
    }
}
