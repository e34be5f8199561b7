import Groundwork

/// What a command prints cannot be written.
enum OutputError: Explained {
    /// `EX_IOERR` of sysexits.h: no kind of error that the agent has ends a command so.
    static let exitStatus: Int32 = 74
    static let code = "output.broken"

    case standardOutput(reason: String)

    var explanation: Explanation {
        switch self {
        case .standardOutput(let reason):
            Explanation(
                Self.code, .unavailable, "cannot write to standard output: \(reason)",
                meaning: "a command's output was not written completely, for example because a disk is full")
        }
    }

    static let examples: [OutputError] = [.standardOutput(reason: "REASON")]
}
