import Groundwork
import Settings

/// What is to be written, from the words of a person.
struct SettingsEdit: Equatable {
    let path: SettingsPath
    let former: JSON
    let value: JSON
    /// Whether the file does not say it yet: then it is written although it may be the default.
    let isNew: Bool

    /// - Parameters:
    ///   - words: `nil` means the default.
    ///   - settings: of the file as it is.
    /// - Throws: ``SettingsEditError/unknown(keyPath:nearest:)``
    init(_ keyPath: String, _ words: [String]?, in settings: [SurveyedSetting]) throws(SettingsEditError) {
        guard let path = SettingsPath(keyPath) else { throw Self.unknown(keyPath, settings) }
        self.path = path
        if let index = path.index {
            guard let table = settings.first(where: { $0.keyPath == path.table })?.value[index]?.object,
                let words
            else { throw Self.unknown(keyPath, settings) }
            let current = table[path.key]
            (former, isNew) = (current ?? .null, current == nil)
            value = Self.value(of: words, like: current)
        } else {
            guard let setting = settings.first(where: { $0.keyPath == keyPath }) else {
                throw Self.unknown(keyPath, settings)
            }
            (former, isNew) = (setting.value, words != nil && !setting.isWritten)
            value = words.map { Self.value(of: $0, like: setting.preset) } ?? setting.preset
        }
    }

    static func unknown(_ keyPath: String, _ settings: [SurveyedSetting]) -> SettingsEditError {
        let key = keyPath.split(separator: ".").last
        let near = settings.map(\.keyPath).filter { name in key.map { name.hasSuffix(".\($0)") } ?? false }
        return .unknown(keyPath: keyPath, nearest: Array(near.prefix(3)))
    }

    /// A word that is not of the kind stays text, which the reader of the settings then refuses by name.
    ///
    /// - Parameter like: a value of the same kind; `nil` if there is none: then the words decide.
    static func value(of words: [String], like: JSON?) -> JSON {
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

    private static func boolean(_ word: String) -> JSON? { Bool(word).map(JSON.bool) }

    private static func number(_ word: String) -> JSON? {
        Int64(word).map(JSON.integer) ?? Double(word).flatMap { $0.isFinite ? .number($0) : nil }
    }

    /// An array as TOML writes it.
    private static func literal(_ word: String) -> JSON {
        (try? SettingsDocument.parse("value = \(word)\n"))?["value"] ?? .string(word)
    }
}
