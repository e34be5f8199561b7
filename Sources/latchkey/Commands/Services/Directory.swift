import ArgumentParser
import Groundwork

/// Entries of the gateway's directory: users or groups.
protocol DirectoryNoun {
    /// Of one entry.
    static var noun: String { get }
    static var heads: [String] { get }
    /// A cell for each head.
    static func row(_ entry: JSON) -> [String]
}

extension DirectoryNoun {
    /// The subcommand `list`.
    typealias List = DirectoryList<Self>
    /// The subcommand `show`.
    typealias Show = DirectoryShow<Self>
}

/// Which page of a list of users or groups is requested.
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
        [
            "filter": filter, "spelling": spelling, "sortBy": sortBy, "sortOrder": descending ? "descending" : nil,
            "attributes": attributes, "excludedAttributes": without, "startIndex": "\(start)", "count": "\(count)",
        ]
    }

    /// `3–14 of 30 users`.
    static func summary(_ answer: JSON, _ noun: String) -> String {
        let total = Amount.of(answer["total"]?.integer ?? 0, noun)
        let shown = Int64(answer["resources"]?.array?.count ?? 0)
        let first = answer["startIndex"]?.integer ?? 1
        return shown > 0 ? "\(first)–\(first + shown - 1) of \(total)" : "none of \(total)"
    }
}

/// How the arguments of a command name users and groups.
struct NamingOptions: ParsableArguments {
    @Flag(name: .customLong("id"), help: "The arguments are identifiers, not names.") var byID = false

    var query: QueryText { ["by": byID ? "id" : nil] }
}

/// `list` of users or groups.
struct DirectoryList<Noun: DirectoryNoun>: RouteCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: "list", abstract: "List the \(Noun.noun)s, by pages.")
    }
    @OptionGroup var directory: DirectoryOptions
    @OptionGroup var options: AccountOptions

    func request() -> RouteRequest {
        .get("\(Noun.noun)s", query: directory.query, timeout: .seconds(90), saying: "asking the gateway")
    }

    /// A table, or the requested attributes as JSON.
    func text(of answer: JSON) -> String {
        let entries = answer["resources"]?.array ?? []
        let rows =
            directory.attributes == nil
            ? Table.text(of: answer["resources"], Noun.heads, row: Noun.row)
            : entries.map(\.text).joined(separator: "\n")
        guard Terminal.standardOutput.isTerminal else { return rows }
        let summary = Terminal.standardOutput.dim(DirectoryOptions.summary(answer, Noun.noun))
        return [rows, summary].filter { !$0.isEmpty }.joined(separator: "\n")
    }
}

/// `show` of a user or a group.
struct DirectoryShow<Noun: DirectoryNoun>: RouteCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: "show", abstract: "Show a \(Noun.noun).")
    }
    @Argument(help: ArgumentHelp("The \(Noun.noun)'s name.", valueName: Noun.noun)) var name: String
    @OptionGroup var naming: NamingOptions
    @OptionGroup var options: AccountOptions

    func request() -> RouteRequest { .get("\(Noun.noun)s/\(name.segment)", query: naming.query, timeout: .seconds(90)) }

    /// The attributes, each on a line.
    func text(of entry: JSON) -> String {
        var fields = Fields()
        for (name, value) in (entry.object ?? [:]).sorted(by: { $0.key < $1.key })
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
