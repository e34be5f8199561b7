import ArgumentParser
import Groundwork

/// A noun whose entries are listed by one route.
protocol Listed {
    static var list: ListRoute { get }
    /// An entry of the list as text for a person.
    static func describe(_ entry: JSON) -> String
}

extension Listed {
    /// The subcommand `list`.
    typealias List = ListCommand<Self>
}

struct ListRoute {
    /// Of the subcommand.
    let abstract: String
    /// Below `/v1/`.
    let route: String
    /// The list's name in the answer.
    let member: String
    /// Printed if the list is empty.
    let nothing: String

    init(_ abstract: String, _ route: String, member: String? = nil, orElse nothing: String) {
        self.abstract = abstract
        self.route = route
        self.member = member ?? route
        self.nothing = nothing
    }
}

/// `list` of a noun.
struct ListCommand<Noun: Listed>: RouteCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: "list", abstract: Noun.list.abstract)
    }
    @OptionGroup var options: ClientOptions

    func request() -> RouteRequest { .get(Noun.list.route) }

    func text(of answer: JSON) -> String {
        answer.lines(Noun.list.member, orElse: Noun.list.nothing, Noun.describe)
    }
}

extension JSON {
    /// The elements of a list in this answer as text, one below the other.
    ///
    /// - Parameters:
    ///   - member: the list's name.
    ///   - nothing: the text if the list is empty.
    func lines(_ member: String, orElse nothing: String, _ describe: (JSON) -> String) -> String {
        let elements = self[member]?.array ?? []
        return elements.isEmpty ? nothing : elements.map(describe).joined(separator: "\n")
    }
}
