import CommandWords
import Groundwork

/// The command was not used correctly.
enum UsageError: Explained, Equatable {
    /// - Parameters:
    ///   - path: the expected parent command, such as `latchkey board`.
    ///   - suggestion: the whole command that was likely meant.
    case unknownCommand(name: String, path: String, suggestion: String?)
    /// The argument parser's error.
    case invalid(message: String, usage: String?)
    /// There is no terminal to ask at, and `--yes` was not given.
    case unconfirmed(consequence: String)
    /// The argument of that number is not UTF-8: it would be altered.
    case notText(argument: Int)

    init(_ unknown: UnknownCommand) {
        self = .unknownCommand(name: unknown.name, path: unknown.path, suggestion: unknown.suggestion)
    }

    var explanation: Explanation {
        switch self {
        case .unknownCommand(let name, let path, let suggestion):
            Explanation(
                "usage.unknown-command", .misuse, "there is no command \(name)",
                remedy: suggestion.map { "did you mean: \($0)" } ?? "\(path) --help lists the commands")
        case .invalid(let message, let usage):
            Explanation(
                "usage.invalid", .misuse, message, remedy: usage,
                meaning: "the command was not used correctly")
        case .unconfirmed(let consequence):
            Explanation(
                "usage.unconfirmed", .misuse, "\(consequence), and there is no terminal to confirm it on",
                remedy: "add --yes to do it without being asked")
        case .notText(let argument):
            Explanation(
                "usage.not-text", .misuse, "argument \(argument) is not UTF-8",
                remedy: "give a payload that is not text on standard input")
        }
    }

    static let examples: [UsageError] = [
        .unknownCommand(name: "NAME", path: "latchkey", suggestion: nil), .invalid(message: "FAULT", usage: nil),
        .unconfirmed(consequence: "CONSEQUENCE"), .notText(argument: 1),
    ]
}

/// A person was asked and did not agree.
struct Declined: Explained {
    let explanation = Explanation("command.declined", .cancelled, "nothing was changed")

    static let examples = [Declined()]
}
