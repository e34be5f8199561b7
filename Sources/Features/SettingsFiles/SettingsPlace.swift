import AgentCore
import Groundwork
import Settings

/// A setting, or a table of several, as a person names it.
///
/// `broker.port`; of the tables of an array one by its number, from 0, or by its name: `hosts[0].public`,
/// `hosts[api.example:8443].public`, `actions.lamp.retries`.
package struct SettingsPlace: Equatable {
    package let table: String
    /// Of the table in its array; `nil` if there is one such table.
    package let index: Int?
    /// `nil` for a whole table of an array.
    package let key: String?

    /// - Parameter settings: of the file as it is.
    /// - Throws: ``SettingsEditError`` that says how the place is named, if the text does not name one.
    package init(_ text: String, in settings: [SurveyedSetting]) throws(SettingsEditError) {
        let head = text.prefix { $0 != "." && $0 != "[" }
        guard let array = settings.first(where: { $0.keyPath == head }) else {
            self = try Self(ofSingleTable: text, in: settings)
            return
        }
        let rest = text.dropFirst(head.count)
        guard !rest.isEmpty else { throw .array(keyPath: text) }
        let (element, key) = try Self.split(rest, of: text, settings)
        let tables = array.value.array ?? []
        guard let index = Self.index(of: element, in: tables) else {
            throw .noElement(array: array.keyPath, element: String(element), there: tables.compactMap(Self.name(of:)))
        }
        (table, self.index, self.key) = (array.keyPath, index, key)
    }

    private init(ofSingleTable text: String, in settings: [SurveyedSetting]) throws(SettingsEditError) {
        let keys = settings.map(\.keyPath).filter { $0.hasPrefix("\(text).") }
        guard keys.isEmpty else { throw .table(keyPath: text, keys: keys) }
        guard let path = SettingsPath(text), path.index == nil else { throw SettingsEdit.unknown(text, settings) }
        (table, index, key) = (path.table, nil, path.key)
    }

    /// `[0].host` and `.lamp.retries` are an element and its key.
    private static func split(_ rest: Substring, of text: String, _ settings: [SurveyedSetting])
        throws(SettingsEditError) -> (element: Substring, key: String?)
    {
        let inside = rest.dropFirst()
        // A host between brackets has points, and one of IPv6 brackets.
        let end = rest.first == "[" ? inside.lastIndex(of: "]") : inside.firstIndex(of: ".") ?? inside.endIndex
        guard let end else { throw SettingsEdit.unknown(text, settings) }
        let after = rest.first == "[" ? inside[inside.index(after: end)...] : inside[end...]
        guard !after.isEmpty else { return (inside[..<end], nil) }
        guard after.first == ".", let key = SettingsPath.name(after.dropFirst()) else {
            throw SettingsEdit.unknown(text, settings)
        }
        return (inside[..<end], key)
    }

    private static func index(of element: Substring, in tables: [JSON]) -> Int? {
        if let number = UInt16(element).map(Int.init), tables.indices.contains(number) { return number }
        return tables.firstIndex { name(of: $0) == String(element) }
    }

    /// What the tables of an array are told apart by.
    private static func name(of table: JSON) -> String? { table["name"]?.string ?? table["host"]?.string }
}
