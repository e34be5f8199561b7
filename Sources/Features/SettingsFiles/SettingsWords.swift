import AgentCore
import Groundwork
import Settings

/// Turns what a person types into values of settings.
package enum SettingsWords {
    /// The value for a place that has a key.
    ///
    /// - Parameter words: `nil` means the default.
    /// - Throws: ``SettingsEditError``
    static func value(
        of words: [String]?, at place: SettingsPlace, named keyPath: String, in settings: [SurveyedSetting],
        _ features: [any Feature.Type]
    ) throws(SettingsEditError) -> JSON {
        let whole = settings.first { $0.keyPath == (place.index == nil ? place.description : place.table) }
        guard let key = place.key, let whole else { throw .unknown(keyPath, settings) }
        guard let index = place.index else { return words.map { value(of: $0, like: whole.preset) } ?? whole.preset }
        // What is not written in a table of an array has its default.
        guard let words else { throw .defaultOfElement(keyPath: keyPath) }
        let others = (whole.value[index]?.object ?? [:]).sorted { $0.key < $1.key }.filter { $0.key != key }
        return values(of: [(key, words)], in: place.table, beside: others, readBy: features)[0].value
    }

    /// A word that is not of the kind stays text, which the reader of the settings then refuses by name.
    ///
    /// - Parameter like: a value of the same kind; `nil` if there is none: then the words decide.
    package static func value(of words: [String], like: JSON?) -> JSON {
        guard words.count == 1, let word = words.first else { return .array(words.map(JSON.string)) }
        switch like {
        case .string: return .string(word)
        case .array: return word.hasPrefix("[") ? literal(word) : .array([.string(word)])
        case .bool: return boolean(word) ?? .string(word)
        case .integer: return number(word) ?? .string(word)
        case .number: return number(word)?.number.map(JSON.number) ?? .string(word)
        default: return boolean(word) ?? number(word) ?? (word.hasPrefix("[") ? literal(word) : .string(word))
        }
    }

    /// The values of keys in a table of an array, whose kinds only the reader of the settings knows: it is asked
    /// whether it takes a word as what it looks like, as text, or as the one element of an array.
    ///
    /// - Parameter others: what else the table has.
    package static func values(
        of members: [(key: String, words: [String])], in array: String,
        beside others: [(key: String, value: JSON)] = [], readBy features: [any Feature.Type]
    ) -> [(key: String, value: JSON)] {
        let forms = members.map { member -> [JSON] in
            let guess = value(of: member.words, like: nil)
            guard member.words.count == 1, let word = member.words.first else { return [guess] }
            return [guess, .string(word), .array([.string(word)])]
        }
        var chosen = forms.map { _ in 0 }
        while true {
            let values = members.indices.map { (key: members[$0].key, value: forms[$0][chosen[$0]]) }
            let refused = refusedKeys(of: values + others, in: array, features)
            let next = members.indices.map { index in
                refused.contains(members[index].key) ? chosen[index] + 1 : chosen[index]
            }
            guard next != chosen else { return values }
            // What none of the forms is right for is refused as what it looks like.
            chosen = members.indices.map { next[$0] < forms[$0].count ? next[$0] : 0 }
            guard members.indices.allSatisfy({ next[$0] < forms[$0].count }) else {
                return members.indices.map { (members[$0].key, forms[$0][chosen[$0]]) }
            }
        }
    }

    private static func refusedKeys(
        of members: [(key: String, value: JSON)], in array: String, _ features: [any Feature.Type]
    ) -> Set<String> {
        let table = JSON.object(members.reduce(into: [:]) { $0[$1.key] = $1.value })
        let alone = SettingsLayers(main: .init(path: "", members: [array: [table]]))
        do throws(ConfigurationError) {
            _ = try AgentConfiguration(alone, of: features)
            return []
        } catch {
            guard case .faults(_, let faults) = error else { return [] }
            let prefix = "\(array)[0]."
            return Set(faults.map(\.keyPath).filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) })
        }
    }

    private static func boolean(_ word: String) -> JSON? { Bool(word).map(JSON.bool) }

    private static func number(_ word: String) -> JSON? {
        Int64(word).map(JSON.integer) ?? Double(word).flatMap { $0.isFinite ? .number($0) : nil }
    }

    /// An array as TOML writes it.
    private static func literal(_ word: String) -> JSON {
        (try? SettingsDocument.parse("value = \(word)\n"))?["value"] ?? .string(word)
    }
}
