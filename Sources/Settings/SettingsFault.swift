/// One thing wrong in a settings file.
public struct SettingsFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// Where: keys joined by dots, elements of an array by their index from 0, such as `sensor[2].unit`.
    public let keyPath: String
    /// What is wrong there.
    public let fault: String
    /// What to write instead.
    public let fix: String

    public init(keyPath: String, fault: String, fix: String) {
        self.keyPath = keyPath
        self.fault = fault
        self.fix = fix
    }

    public var description: String { keyPath.isEmpty ? "\(fault); \(fix)" : "\(keyPath): \(fault); \(fix)" }
}
