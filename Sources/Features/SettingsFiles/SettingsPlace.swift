import AgentCore
import Groundwork
import Settings

/// A setting, or a table of several, as a person names it.
///
/// `broker.port`; of the tables of an array one by its number, from 0, or by its name: `hosts[0].public`,
/// `hosts[api.example:8443].public`, `actions.lamp.retries`.
package struct SettingsPlace: Equatable, CustomStringConvertible {
    package let table: String
    /// Of the table in its array; `nil` if there is one such table.
    package let index: Int?
    /// `nil` for a whole table of an array.
    package let key: String?

    /// As faults name it.
    package var description: String {
        table + (index.map { "[\($0)]" } ?? "") + (key.map { ".\($0)" } ?? "")
    }

    /// - Parameter settings: of the files as they are.
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
            throw .noElement(array: array.keyPath, element: String(element), there: tables.compactMap(Self.name))
        }
        (table, self.index, self.key) = (array.keyPath, index, key)
    }

    private init(ofSingleTable text: String, in settings: [SurveyedSetting]) throws(SettingsEditError) {
        let keys = settings.map(\.keyPath).filter { $0.hasPrefix("\(text).") }
        guard keys.isEmpty else { throw .table(keyPath: text, keys: keys) }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy(Self.isName) else { throw .unknown(text, settings) }
        (table, index, key) = (String(parts[0]), nil, String(parts[1]))
    }

    /// `[0].host` and `.lamp.retries` are an element and its key.
    private static func split(_ rest: Substring, of text: String, _ settings: [SurveyedSetting])
        throws(SettingsEditError) -> (element: Substring, key: String?)
    {
        let inside = rest.dropFirst()
        // A host between brackets has points, and one of IPv6 brackets.
        let end = rest.first == "[" ? inside.lastIndex(of: "]") : inside.firstIndex(of: ".") ?? inside.endIndex
        guard let end else { throw .unknown(text, settings) }
        let after = rest.first == "[" ? inside[inside.index(after: end)...] : inside[end...]
        guard !after.isEmpty else { return (inside[..<end], nil) }
        guard after.first == ".", Self.isName(after.dropFirst()) else { throw .unknown(text, settings) }
        return (inside[..<end], String(after.dropFirst()))
    }

    /// Whether this may be a key of the settings.
    private static func isName(_ text: Substring) -> Bool {
        let isName = text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
        return isName && !text.isEmpty
    }

    /// What the files say there; `nil` for nothing.
    func value(in layers: SettingsLayers) -> JSON? {
        guard let table = layers.members[self.table] else { return nil }
        let element = index.map { table[$0] } ?? table
        return key.map { element?[$0] } ?? element
    }

    /// What tells its table from the others of the array; empty for a single table.
    func identity(in layers: SettingsLayers) -> [String: JSON] {
        index.flatMap { layers.members[table]?[$0] }.map(SettingsLayers.identity) ?? [:]
    }

    private static func index(of element: Substring, in tables: [JSON]) -> Int? {
        if let number = UInt16(element).map(Int.init), tables.indices.contains(number) { return number }
        return tables.firstIndex { name(of: $0) == String(element) }
    }

    private static func name(of table: JSON) -> String? { SettingsLayers.identity(of: table).values.first?.string }
}
