public import Groundwork

/// A setting that is in force.
public struct SurveyedSetting: Sendable, Equatable {
    /// Keys joined by dots, such as `broker.port`; of an array of tables its name alone.
    public let keyPath: String
    public let value: JSON
    /// The default.
    public let preset: JSON
    /// The files that say it, as they are read; empty if it is the default.
    public let files: [String]

    public init(keyPath: String, value: JSON, preset: JSON, files: [String] = []) {
        (self.keyPath, self.value, self.preset, self.files) = (keyPath, value, preset, files)
    }
}
