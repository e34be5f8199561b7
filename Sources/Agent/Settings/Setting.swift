import Groundwork
import Settings

/// A feature's own setting: ``AgentConfiguration`` has no property for it.
///
///     static let text = Setting("greeting.text", preset: "Hello")
///     root.table("greeting") { $0.string("text", &configuration[Self.text], .notEmpty) }
struct Setting<Value: SettingValue>: Sendable {
    /// `table.key`, as in the settings file.
    let keyPath: String
    let preset: Value

    init(_ keyPath: String, preset: Value) {
        self.keyPath = keyPath
        self.preset = preset
    }
}

/// The type of a ``Setting``.
protocol SettingValue: Sendable {
    init?(setting: JSON)
    var setting: JSON { get }
}

extension String: SettingValue {
    init?(setting: JSON) {
        guard let text = setting.string else { return nil }
        self = text
    }
    var setting: JSON { .string(self) }
}

extension Bool: SettingValue {
    init?(setting: JSON) {
        guard let flag = setting.bool else { return nil }
        self = flag
    }
    var setting: JSON { .bool(self) }
}

extension Int: SettingValue {
    init?(setting: JSON) {
        guard let number = setting.integer else { return nil }
        self = Int(number)
    }
    var setting: JSON { .integer(Int64(self)) }
}

extension [String]: SettingValue {
    init?(setting: JSON) {
        guard let texts = setting.array else { return nil }
        self = texts.compactMap(\.string)
    }
    var setting: JSON { .array(map(JSON.string)) }
}

extension AgentConfiguration {
    /// The value of a feature's own setting in the file, else its default. A default that is written down counts as
    /// none, so that a file of all defaults is equal to no file.
    subscript<Value>(setting: Setting<Value>) -> Value {
        get { ofFeatures[setting.keyPath].flatMap(Value.init(setting:)) ?? setting.preset }
        // Not `nil`, which is the JSON null here.
        set {
            let isPreset = newValue.setting == setting.preset.setting
            ofFeatures[setting.keyPath] = isPreset ? .none : .some(newValue.setting)
        }
    }
}
