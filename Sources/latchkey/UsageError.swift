import Groundwork

/// The command was not given as it is used.
enum UsageError: Explained, Equatable {
    /// - Parameters:
    ///   - path: the command that it should be a subcommand of, such as `latchkey board`.
    ///   - suggestion: the whole command that was likely meant.
    case unknownCommand(name: String, path: String, suggestion: String?)
    /// What the argument parser found.
    case invalid(message: String, usage: String?)
    /// Nobody can be asked for confirmation, and `--yes` was not given.
    case unconfirmed(consequence: String)

    var code: String {
        switch self {
        case .unknownCommand: "usage.unknown-command"
        case .invalid: "usage.invalid"
        case .unconfirmed: "usage.unconfirmed"
        }
    }

    var message: String {
        switch self {
        case .unknownCommand(let name, _, _): "there is no command \(name)"
        case .invalid(let message, _): message
        case .unconfirmed(let consequence): "\(consequence), and there is no terminal to confirm it at"
        }
    }

    var remedy: String? {
        switch self {
        case .unknownCommand(_, let path, let suggestion):
            suggestion.map { "did you mean: \($0)" } ?? "\(path) --help lists the commands"
        case .invalid(_, let usage): usage
        case .unconfirmed: "add --yes to do it without being asked"
        }
    }
}

/// A person was asked and did not agree.
struct Declined: Explained {
    let code = "command.declined"
    let message = "nothing was changed"
}
