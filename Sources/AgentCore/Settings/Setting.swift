import Groundwork
import Settings

/// A feature's own setting: ``AgentConfiguration`` has no property for it.
///
///     static let text = Setting("greeting.text", preset: "Hello")
///     root.table("greeting") { $0.string("text", &configuration[Self.text], .notEmpty) }
package struct Setting<Value: SettingValue>: Sendable {
    /// `table.key`, as in the settings file.
    package let keyPath: String
    package let preset: Value

    package init(_ keyPath: String, preset: Value) {
        self.keyPath = keyPath
        self.preset = preset
    }
}

/// The type of a ``Setting``.
package protocol SettingValue: Sendable {
    init?(setting: JSON)
    var setting: JSON { get }
}

extension String: SettingValue {
    package init?(setting: JSON) {
        guard let text = setting.string else { return nil }
        self = text
    }
    package var setting: JSON { .string(self) }
}

extension Bool: SettingValue {
    package init?(setting: JSON) {
        guard let flag = setting.bool else { return nil }
        self = flag
    }
    package var setting: JSON { .bool(self) }
}

extension Int: SettingValue {
    package init?(setting: JSON) {
        guard let number = setting.integer else { return nil }
        self = Int(number)
    }
    package var setting: JSON { .integer(Int64(self)) }
}

extension Double: SettingValue {
    package init?(setting: JSON) {
        guard let number = setting.number else { return nil }
        self = number
    }
    package var setting: JSON { .number(self) }
}

extension [String]: SettingValue {
    package init?(setting: JSON) {
        guard let texts = setting.array else { return nil }
        self = texts.compactMap(\.string)
    }
    package var setting: JSON { .array(map(JSON.string)) }
}

extension AgentConfiguration {
    /// The value of a feature's own setting in the file, else its default. A default that is written down counts as
    /// none, so that a file of all defaults is equal to no file.
    package subscript<Value>(setting: Setting<Value>) -> Value {
        get { ofFeatures[setting.keyPath].flatMap(Value.init(setting:)) ?? setting.preset }
        // Not `nil`, which is the JSON null here.
        set {
            let isPreset = newValue.setting == setting.preset.setting
            ofFeatures[setting.keyPath] = isPreset ? .none : .some(newValue.setting)
        }
    }
}
