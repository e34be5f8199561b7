import ArgumentParser
import Groundwork
import LocalAPI

/// What is asked of a list of users or groups.
struct DirectoryOptions: ParsableArguments {
    @Option(help: "Show only entries that match: eq, ne, co, sw, ew, gt, ge, lt, le, pr, and, or, not.")
    var filter: String?
    @Option(help: "How combined filters are sent: standard, or repeated for a gateway that needs it.")
    var spelling: String?
    @Option(help: "The attribute to sort by.") var sortBy: String?
    @Flag(help: "Sort from the last to the first.") var descending = false
    @Option(help: "Show only these attributes, separated by commas.") var attributes: String?
    @Option(help: "Show all but these attributes, separated by commas.") var without: String?
    @Option(help: "The first entry of the page, from 1.") var start = 1
    @Option(help: "The size of the page.") var count = 12

    func validate() throws {
        guard attributes == nil || without == nil else {
            throw ValidationError("give --attributes or --without, not both")
        }
        guard start >= 1, (1...200).contains(count) else {
            throw ValidationError("--start is 1 or more, and --count 1 to 200")
        }
    }

    var query: QueryText {
        var query = QueryText(["filter": filter, "spelling": spelling, "sortBy": sortBy])
        if descending { query.add("sortOrder", "descending") }
        query.add("attributes", attributes)
        query.add("excludedAttributes", without)
        query.add("startIndex", "\(start)")
        query.add("count", "\(count)")
        return query
    }

    /// `3–14 of 30 users`.
    func summary(_ answer: JSON, _ noun: String) -> String {
        let total = answer["total"]?.integer ?? 0
        let shown = Int64(answer["resources"]?.array?.count ?? 0)
        let first = answer["startIndex"]?.integer ?? 1
        guard shown > 0 else { return "none of \(Amount.of(total, noun))" }
        return "\(first)–\(first + shown - 1) of \(Amount.of(total, noun))"
    }

    /// Asks for a page of users or groups and prints it.
    func list(_ noun: String, _ account: AccountOption, _ options: ClientOptions, as table: ([JSON]) -> String)
        async throws
    {
        let answer = try await LongWork.say("asking the gateway") {
            try await options.client.get(
                account.path("\(noun)s" + query.text, by: options.client), timeout: .seconds(90))
        }
        options.show(answer) { show($0, noun, table) }
    }

    /// A table, or the attributes that were asked for as JSON.
    private func show(_ answer: JSON, _ noun: String, _ table: ([JSON]) -> String) -> String {
        let resources = answer["resources"]?.array ?? []
        let rows = attributes == nil ? table(resources) : resources.map(\.text).joined(separator: "\n")
        guard Terminal.standardOutput.isTerminal else { return rows }
        return [rows, Terminal.standardOutput.dim(summary(answer, noun))].filter { !$0.isEmpty }.joined(separator: "\n")
    }
}

/// A query of the local API.
struct QueryText {
    private(set) var text = ""

    init(_ pairs: KeyValuePairs<String, String?> = [:]) { for (name, value) in pairs { add(name, value) } }

    mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        text += (text.isEmpty ? "?" : "&") + "\(name)=\(PercentEncoding.encode(value))"
    }
}

/// How the arguments of a command name users and groups.
struct NamingOptions: ParsableArguments {
    @Flag(name: .customLong("id"), help: "The arguments are identifiers, not names.") var byID = false

    var query: QueryText { QueryText(["by": byID ? "id" : nil]) }
}

extension String {
    /// As a segment of a path.
    var segment: String { PercentEncoding.encode(self) }
}

struct Users: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "Show the users that the gateway's directory has.",
        discussion: #"""
            Asked in the name of the user who is logged in, or else of this board.

              $ latchkey users list --filter 'userName sw "a" and active eq true'
              $ latchkey users show alice
            """#,
        subcommands: [List.self, Show.self, Photo.self, Schema.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List the users, by pages.")
        @OptionGroup var directory: DirectoryOptions
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func run() async throws {
            try await directory.list("user", account, options) { users in
                var table = Table("USER", "NAME", "MAIL", "ID")
                for user in users {
                    table.add(
                        user["userName"]?.string ?? "?",
                        user["displayName"]?.string ?? user["name"]?["formatted"]?.string ?? "",
                        user["emails"]?[0]?["value"]?.string ?? "", user["id"]?.string ?? "")
                }
                return table.text
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "show", abstract: "Show a user.")
        @Argument(help: "The user's name.") var user: String
        @OptionGroup var naming: NamingOptions
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let path = try await account.path("users/\(user.segment)" + naming.query.text, by: options.client)
            options.show(try await options.client.get(path, timeout: .seconds(90)), Users.describe)
        }
    }

    struct Photo: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "photo",
            abstract: "Write a user's picture to a file, or say where it is.")
        @Argument(help: "The user's name.") var user: String
        @Argument(help: "The file, or - for standard output.") var file: String
        @OptionGroup var naming: NamingOptions
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let path = try await account.path("users/\(user.segment)/photo" + naming.query.text, by: options.client)
            let photo = try await options.client.get(path, timeout: .seconds(90))
            if let bytes = photo["bytes"]?.string.flatMap({ Base64.decode($0) }) {
                if file == "-", !options.json { return Terminal.bytes(bytes) }
                if file != "-" { try Output.file(file, bytes) }
            }
            options.show(photo) { $0["url"]?.string ?? "\($0["mediaType"]?.string ?? "?") written to \(file)" }
        }
    }

    struct Schema: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "schema",
            abstract: "Show which attributes the gateway's users or groups have.")
        @Flag(help: "Show the attributes of groups.") var groups = false
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let path = try await account.path("schemas/" + (groups ? "group" : "user"), by: options.client)
            options.show(try await options.client.get(path, timeout: .seconds(90))) { schema in
                var table = Table("ATTRIBUTE", "TYPE", "PARTS")
                for attribute in schema["attributes"]?.array ?? [] {
                    let parts = attribute["subAttributes"]?.array?.compactMap { $0["name"]?.string } ?? []
                    table.add(
                        attribute["name"]?.string ?? "?", attribute["type"]?.string ?? "",
                        parts.joined(separator: ", "))
                }
                return table.text
            }
        }
    }

    /// The attributes of a user or a group, each on a line.
    static func describe(_ resource: JSON) -> String {
        var fields = Fields()
        for (name, value) in (resource.object ?? [:]).sorted(by: { $0.key < $1.key })
        where !["schemas", "meta", "photos"].contains(name) {
            let text =
                value.string
                ?? value.array?.map { $0["display"]?.string ?? $0["value"]?.string ?? $0.text }
                .joined(separator: ", ")
            fields.add(name, Terminal.standardOutput.shown(text ?? value["formatted"]?.string ?? value.text))
        }
        return fields.text
    }
}
