import AgentCore
import Groundwork
import Settings

/// Why a setting was not changed. The file is as it was.
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
    /// The file does not say it, so that it cannot be taken out.
    case notWritten(keyPath: String, path: String)
    /// With this value the agent would not start.
    case refused(keyPath: String, [SettingsFault])
    /// The file says it in a form that is not changed by programs.
    case notPlaced(keyPath: String, path: String)
    /// Somebody else changed the file again and again.
    case changedMeanwhile(path: String)
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
        case .notWritten(let keyPath, let path):
            Explanation(
                "settings.not-written", .invalidInput,
                "\(path) does not say \(DisplayText.oneLine(keyPath, limit: 100))",
                remedy: "see what it says: latchkey config show")
        case .refused(let keyPath, let faults):
            Explanation(
                "settings.refused", .invalidInput,
                "the agent would not start with that \(keyPath): "
                    + faults.map(\.description).joined(separator: "; "),
                remedy: "nothing was changed; for the settings of another machine add --syntax-only",
                meaning: "a setting was not changed, because the agent would not start with it")
        case .notPlaced(let keyPath, let path):
            Explanation(
                "settings.not-placed", .conflict, "\(path) has \(keyPath) in a form that this command does not change",
                remedy: "change it in an editor, and check it with: latchkey config check")
        case .changedMeanwhile(let path):
            Explanation(
                "settings.changed-meanwhile", .busy, "\(path) is being changed by somebody else", remedy: "try again")
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
        .notWritten(keyPath: "KEY", path: "PATH"),
        .refused(keyPath: "KEY", [SettingsFault(keyPath: "KEY", fault: "FAULT", fix: "FIX")]),
        .notPlaced(keyPath: "KEY", path: "PATH"), .changedMeanwhile(path: "PATH"),
        .inUse(path: "PATH", process: 1234), .forbidden(path: "PATH"),
        .unwritable(path: "PATH", reason: "REASON"),
    ]
}
