import AgentCore
import Groundwork
import Settings

/// Why a setting was not changed. All files are as they were.
package enum SettingsEditError: Explained, Equatable {
    /// No setting has this name; `nearest` are the likely ones.
    case unknown(keyPath: String, nearest: [String])
    /// It is a table; its settings are set one by one.
    case table(keyPath: String, keys: [String])
    /// It is an array of tables, or a whole table of one.
    case array(keyPath: String)
    /// The array has no such table; `there` are the names of those it has.
    case noElement(array: String, element: String, there: [String])
    /// What a table of an array does not say has its default already.
    case defaultOfElement(keyPath: String)
    /// The array has a table of this name already.
    case exists(array: String, name: String)
    /// The drop-in with the changes does not say it, so that it cannot be taken out; `others` do.
    case notWritten(keyPath: String, path: String, others: [String])
    /// A drop-in that is read after the one with the changes says something else.
    case overridden(keyPath: String, by: String, changes: String)
    /// With this value the agent would not start.
    case refused(keyPath: String, [SettingsFault])
    /// Another process is changing the file, and does not end; 0 if it is not known.
    case inUse(path: String, process: Int32)
    case forbidden(path: String)
    case unwritable(path: String, reason: String)

    package var explanation: Explanation {
        switch self {
        case .unknown(let keyPath, let nearest):
            Explanation(
                "settings.unknown", .invalidInput, "there is no setting \(DisplayText.oneLine(keyPath, limit: 100))",
                remedy: nearest.isEmpty
                    ? "latchkey config show lists them all" : "did you mean: \(nearest.joined(separator: ", "))",
                meaning: "no setting of the agent has this name")
        case .table(let keyPath, let keys):
            Explanation(
                "settings.is-table", .invalidInput, "\(keyPath) is a table of settings",
                remedy: "name one of them: \(keys.joined(separator: ", "))")
        case .array(let keyPath):
            Explanation(
                "settings.is-array", .invalidInput,
                "\(DisplayText.oneLine(keyPath, limit: 100)) is not one value, but a table or several",
                remedy:
                    "add a table: latchkey config add NAME KEY=VALUE …; change a value of one by its number or name: "
                    + "latchkey config set NAME[0].KEY VALUE; take one out: latchkey config unset NAME[0]")
        case .noElement(let array, let element, let there):
            Explanation(
                "settings.no-element", .invalidInput,
                "there is no \(array)[\(DisplayText.oneLine(element, limit: 100))]"
                    + (there.isEmpty ? ", and no other" : "; there are: ")
                    + there.enumerated().map { "\($0.offset) (\(DisplayText.oneLine($0.element, limit: 100)))" }
                    .joined(separator: ", "),
                remedy: "add one: latchkey config add \(array) KEY=VALUE …")
        case .defaultOfElement(let keyPath):
            Explanation(
                "settings.default-of-element", .invalidInput,
                "\(DisplayText.oneLine(keyPath, limit: 100)) has its default while the file does not say it",
                remedy: "take it out: latchkey config unset \(DisplayText.oneLine(keyPath, limit: 100))")
        case .exists(let array, let name):
            Explanation(
                "settings.exists", .conflict, "there is \(array)[\(DisplayText.oneLine(name, limit: 100))] already",
                remedy: "change it: latchkey config set '\(array)[NAME].KEY' VALUE")
        case .notWritten(let keyPath, let path, let others):
            Explanation(
                "settings.not-written", .invalidInput,
                "\(path) does not set \(DisplayText.oneLine(keyPath, limit: 100))"
                    + (others.isEmpty ? "" : ", but \(others.joined(separator: " and ")) does"),
                remedy: others.isEmpty
                    ? "see what is set: latchkey config show --changed"
                    : "take it out there, or set another value: latchkey config set")
        case .overridden(let keyPath, let file, let changes):
            Explanation(
                "settings.overridden", .conflict,
                "\(DisplayText.oneLine(keyPath, limit: 100)) is set in \(file), which is read after \(changes)",
                remedy: "change it there; nothing was changed",
                meaning: "a setting was not changed, because a later file would override it")
        case .refused(let keyPath, let faults):
            Explanation(
                "settings.refused", .invalidInput,
                "the agent would not start with that \(keyPath): "
                    + SettingsFault.list(faults, main: nil),
                remedy: "nothing was changed; for the settings of another machine add --syntax-only",
                meaning: "a setting was not changed, because the agent would not start with it")
        case .inUse(let path, let process):
            Explanation(
                "settings.in-use", .busy,
                "\(path) is being changed by \(process > 0 ? "process \(process)" : "another process")",
                remedy: "try again when it has ended",
                meaning: "a setting was not changed, because another process was changing settings all the time")
        case .forbidden(let path):
            Explanation(
                "settings.forbidden", .permission, "this user may not change \(path)", remedy: "run it as root: sudo")
        case .unwritable(let path, let reason):
            Explanation("settings.unwritable", .unavailable, "cannot write \(path): \(reason)")
        }
    }

    package static let examples: [SettingsEditError] = [
        .unknown(keyPath: "KEY", nearest: []),
        .table(keyPath: "KEY", keys: ["KEY"]), .array(keyPath: "KEY"),
        .noElement(array: "NAME", element: "ELEMENT", there: ["ELEMENT"]), .defaultOfElement(keyPath: "KEY"),
        .exists(array: "NAME", name: "ELEMENT"), .notWritten(keyPath: "KEY", path: "PATH", others: ["PATH"]),
        .overridden(keyPath: "KEY", by: "PATH", changes: "PATH"),
        .refused(keyPath: "KEY", [SettingsFault(keyPath: "KEY", fault: "FAULT", fix: "FIX")]),
        .inUse(path: "PATH", process: 1234), .forbidden(path: "PATH"),
        .unwritable(path: "PATH", reason: "REASON"),
    ]
}

extension SettingsEditError {
    /// With the settings of other tables that have the same key.
    static func unknown(_ keyPath: String, _ settings: [SurveyedSetting]) -> SettingsEditError {
        let key = keyPath.split(separator: ".").last
        let near = settings.map(\.keyPath).filter { name in key.map { name.hasSuffix(".\($0)") } ?? false }
        return .unknown(keyPath: keyPath, nearest: Array(near.prefix(3)))
    }
}
