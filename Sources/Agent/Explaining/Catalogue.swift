import AgentCore
import AgentSettingsFiles
import Gateway
import Groundwork

/// Every error, event and code that this program shows, for `latchkey explain`: made from the error types.
package struct Catalogue: Sendable {
    /// The error types of the features, and those of the settings.
    package static let types: [any Explained.Type] =
        Features.all.flatMap { $0.errors } + [SettingsEditError.self]

    /// Errors, events and the codes of standards, each in the order of their names.
    package let entries: [CatalogueEntry]

    /// - Parameter types: error types of the command itself.
    package init(adding types: [any Explained.Type] = []) {
        var byCode: [String: [Explanation]] = [:]
        for type in Self.types + types {
            for explanation in Self.examples(of: type) { byCode[explanation.code, default: []].append(explanation) }
        }
        let errors = byCode.sorted { $0.key < $1.key }.map { CatalogueEntry(code: $0.key, $0.value) }
        let events = Features.all.flatMap { $0.events }.flatMap { $0.meanings }.sorted { $0.key < $1.key }.map {
            CatalogueEntry(name: $0.key, category: .event, meaning: $0.value)
        }
        entries = errors + events + Features.all.flatMap { $0.codes }
    }

    private static func examples(of type: any Explained.Type) -> [Explanation] {
        type.examples.map { ($0 as any Explained).explanation }
    }

    /// All meanings of a name or a number: an error and an event may have the same name.
    package func entries(named name: String) -> [CatalogueEntry] {
        let wanted = name.lowercased()
        let named = entries.filter { $0.name == wanted || $0.status?.lowercased() == wanted }
        guard let number = RefusalNumber(wanted) else { return named }
        return named + Self.entries(of: number)
            + entries.filter {
                $0.numbers.contains(number.number)
                    || $0.clientNumbers.contains { number.number > 0 && $0.number == number.number }
            }
    }

    /// The gateway's numbers, grouped by what they have in common: their last three digits.
    package static var gatewayNumbers: [CatalogueEntry] {
        RefusalNumber.suffixes.flatMap { entries(of: RefusalNumber($0)) }
    }

    private static func entries(of number: RefusalNumber) -> [CatalogueEntry] {
        number.explanations.map { explanation in
            CatalogueEntry(
                name: number.text, category: .gatewayNumber, meaning: explanation.meaning, source: number.interface,
                code: explanation.code, kind: explanation.kind,
                wordings: explanation.remedy.map { [.init(message: explanation.meaning ?? "", remedy: $0)] } ?? [])
        }
    }
}

extension RefusalNumber {
    /// The number, with at least three digits.
    fileprivate var text: String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    }
}
