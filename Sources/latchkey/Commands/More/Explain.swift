import Agent
import AgentCore
import ArgumentParser
import CommandWords
import Groundwork

struct Explain: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain an error code, an event, a gateway's number or a status, and what to do.",
        discussion: """
            Takes the codes and events of this program, the numbers of a gateway's x-ca-err header or their last three \
            digits, the numbers of its protocol's public clients, the statuses of M-Pin's, and the error codes of \
            OAuth 2.0. No daemon is needed.

              $ latchkey explain vault.no-slot-opens
              $ latchkey explain 1000105
              $ latchkey explain INCORRECT_PIN
            """)

    static let catalogue = Catalogue(
        adding: [UsageError.self, InputError.self, OutputError.self, Declined.self, WaitError.self, SetupError.self]
            + Systems.errors)

    @Argument(
        help: "Such as gateway.no-answer, broker.failed, 3003201, 990 or invalid_grant.",
        completion: .custom { _, _, _ in Explain.catalogue.entries.map(\.name) })
    var code: String?
    @Flag(help: "List every name.") var list = false
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (code == nil) == list else { throw ValidationError("give one code, event or number, or --list") }
    }

    func run() throws {
        let entries = try code.map(Self.entries(named:)) ?? Self.catalogue.entries + Catalogue.gatewayNumbers
        if json {
            Terminal.line(JSON.object(["entries": .array(entries.map(\.json))]).text)
        } else if list {
            Terminal.line(Self.listing(of: entries))
        } else {
            Terminal.line(entries.map(Self.text).joined(separator: "\n\n"))
        }
    }

    /// - Throws: ``InputError/unknownName(_:nearest:)``
    private static func entries(named name: String) throws(InputError) -> [CatalogueEntry] {
        let found = catalogue.entries(named: name)
        guard found.isEmpty else { return found }
        let nearest = NearNames.nearest(to: name, among: catalogue.entries.map(\.name))
        throw .unknownName(String(name.prefix(100)), nearest: nearest)
    }

    private static func listing(of entries: [CatalogueEntry]) -> String {
        var fields = Fields()
        for entry in entries { fields.add(entry.name, entry.meaning ?? entry.wordings.first?.message) }
        return fields.text
    }

    private static func text(_ entry: CatalogueEntry) -> String {
        var fields = Fields()
        fields.add("meaning", entry.meaning)
        fields.add("from", entry.source)
        fields.add("code", entry.code)
        for wording in entry.wordings {
            fields.add("message", wording.message == entry.meaning ? nil : wording.message)
            fields.add("what to do", wording.remedy)
        }
        if let kind = entry.kind {
            fields.add("kind", "\(kind.rawValue): \(kind.meaning)")
            let status = entry.code == OutputError.code ? OutputError.exitStatus : kind.exitStatus.rawValue
            fields.add("exit status", String(status))
            fields.add("HTTP status", String(kind.httpStatus))
        }
        fields.add("numbers", entry.numbers.map(String.init).joined(separator: ", "))
        fields.add("client numbers", entry.clientNumbers.map(\.description).joined(separator: ", "))
        fields.add("status", entry.status)
        return "\(Terminal.standardOutput.bold(entry.name))  \(title(of: entry.category))\n\(fields.text)"
    }

    private static func title(of category: CatalogueEntry.Category) -> String {
        switch category {
        case .error: "error of this program"
        case .event: "event of this program"
        case .gatewayNumber: "x-ca-err of the gateway"
        case .oauthError: "error of OAuth 2.0"
        }
    }
}
