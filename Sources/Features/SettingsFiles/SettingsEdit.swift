import AgentCore
import Groundwork
import Settings

/// What is to be written, from the words of a person.
package struct SettingsEdit: Equatable {
    package let path: SettingsPath
    package let former: JSON
    package let value: JSON
    /// Whether the file does not say it yet: then it is written although it may be the default.
    package let isNew: Bool

    /// - Parameters:
    ///   - words: `nil` means the default.
    ///   - settings: of the file as it is.
    /// - Throws: ``SettingsEditError``
    package init(
        _ keyPath: String, _ words: [String]?, in settings: [SurveyedSetting], readBy features: [any Feature.Type]
    ) throws(SettingsEditError) {
        let place = try SettingsPlace(keyPath, in: settings)
        guard let key = place.key else { throw .array(keyPath: keyPath) }
        path = SettingsPath(table: place.table, index: place.index, key: key)
        if let index = place.index {
            // What is not written there has its default.
            guard let words else { throw .defaultOfElement(keyPath: keyPath) }
            let table = settings.first { $0.keyPath == place.table }?.value[index]?.object ?? [:]
            let current = table[key]
            (former, isNew) = (current ?? .null, current == nil)
            let others = table.sorted { $0.key < $1.key }.filter { $0.key != key }
            value = SettingsWords.values(of: [(key, words)], in: place.table, beside: others, readBy: features)[0].value
        } else {
            guard let setting = settings.first(where: { $0.keyPath == keyPath }) else {
                throw Self.unknown(keyPath, settings)
            }
            (former, isNew) = (setting.value, words != nil && !setting.isWritten)
            value = words.map { SettingsWords.value(of: $0, like: setting.preset) } ?? setting.preset
        }
    }

    package static func unknown(_ keyPath: String, _ settings: [SurveyedSetting]) -> SettingsEditError {
        let key = keyPath.split(separator: ".").last
        let near = settings.map(\.keyPath).filter { name in key.map { name.hasSuffix(".\($0)") } ?? false }
        return .unknown(keyPath: keyPath, nearest: Array(near.prefix(3)))
    }
}
