public import Groundwork

/// A setting as it is in force.
public struct SurveyedSetting: Sendable, Equatable {
    /// Keys joined by dots, such as `broker.port`; of an array of tables its name alone.
    public let keyPath: String
    public let value: JSON
    /// The default.
    public let preset: JSON
    /// Whether the file says it; otherwise it is the default.
    public let isWritten: Bool

    public init(keyPath: String, value: JSON, preset: JSON, isWritten: Bool) {
        (self.keyPath, self.value, self.preset, self.isWritten) = (keyPath, value, preset, isWritten)
    }
}
