public import Groundwork
public import Settings

/// Why a setting was not changed. The file is as it was.
public enum SettingsEditError: Explained, Equatable {
    /// No setting has this name; `nearest` are the likely ones.
    case unknown(keyPath: String, nearest: [String])
    /// With this value the agent would not start.
    case refused(keyPath: String, [SettingsFault])
    /// The file says it in a form that is not changed by programs.
    case notPlaced(keyPath: String, path: String)
    /// Somebody else changed the file again and again.
    case changedMeanwhile(path: String)
    case forbidden(path: String)
    case unwritable(path: String, reason: String)

    public var explanation: Explanation {
        switch self {
        case .unknown(let keyPath, let nearest):
            Explanation(
                "settings.unknown", .invalidInput, "there is no setting \(DisplayText.oneLine(keyPath, limit: 100))",
                remedy: nearest.isEmpty
                    ? "latchkey config show lists them all" : "did you mean: \(nearest.joined(separator: ", "))",
                meaning: "no setting of the agent has this name")
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
        case .forbidden(let path):
            Explanation(
                "settings.forbidden", .permission, "this user may not change \(path)", remedy: "run it as root: sudo")
        case .unwritable(let path, let reason):
            Explanation("settings.unwritable", .unavailable, "cannot write \(path): \(reason)")
        }
    }

    public static let examples: [SettingsEditError] = [
        .unknown(keyPath: "KEY", nearest: []),
        .refused(keyPath: "KEY", [SettingsFault(keyPath: "KEY", fault: "FAULT", fix: "FIX")]),
        .notPlaced(keyPath: "KEY", path: "PATH"), .changedMeanwhile(path: "PATH"), .forbidden(path: "PATH"),
        .unwritable(path: "PATH", reason: "REASON"),
    ]
}
