/// One thing wrong in a settings file.
public struct SettingsFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file, if it is a drop-in; `nil` for the main one, or where there is only one.
    public let file: String?
    /// Where: keys joined by dots, elements of an array by their index from 0, such as `sensor[2].unit`.
    public let keyPath: String
    /// What is wrong there.
    public let fault: String
    /// What to write instead.
    public let fix: String

    public init(file: String? = nil, keyPath: String, fault: String, fix: String) {
        self.file = file
        self.keyPath = keyPath
        self.fault = fault
        self.fix = fix
    }

    /// The file is not named.
    public var description: String { keyPath.isEmpty ? "\(fault); \(fix)" : "\(keyPath): \(fault); \(fix)" }

    /// All faults in one line, with their files.
    ///
    /// - Parameter main: the path of the main file; `nil`: it is not named.
    public static func list(_ faults: [SettingsFault], main: String?) -> String {
        var file: String?
        return faults.map { fault in
            defer { file = fault.file ?? main }
            guard let named = fault.file ?? main, named != file else { return fault.description }
            return "\(named): \(fault)"
        }.joined(separator: "; ")
    }
}
