import ArgumentParser

/// A command that does not exist was typed.
public struct UnknownCommand: Error, Equatable {
    public let name: String
    /// The expected parent command, such as `latchkey board`.
    public let path: String
    /// The whole command that was likely meant.
    public let suggestion: String?

    public init(name: String, path: String, suggestion: String?) {
        self.name = name
        self.path = path
        self.suggestion = suggestion
    }
}

/// Finds command names that do not exist, which the argument parser would report as unexpected arguments.
public enum CommandNames {
    public static func check(
        _ arguments: some Sequence<String>, of root: any ParsableCommand.Type
    ) throws(UnknownCommand) {
        var (command, path) = (root, name(of: root))
        for (position, argument) in arguments.enumerated() {
            let choices = command.configuration.subcommands
            guard !argument.hasPrefix("-"), !choices.isEmpty else { return }
            // `help` belongs to the argument parser, and is followed by the names of a command.
            if position == 0, argument == "help" { continue }
            guard let next = choices.first(where: { name(of: $0) == argument }) else {
                let names = choices.map(name) + (path == name(of: root) ? ["help"] : [])
                let suggestion = NearNames.suggestion(for: argument, among: names)
                throw UnknownCommand(name: argument, path: path, suggestion: suggestion.map { "\(path) \($0)" })
            }
            (command, path) = (next, "\(path) \(name(of: next))")
        }
    }

    /// Each command of the agent says its name: of one that does not, the argument parser makes it from the type's, and
    /// asks the runtime whether that type describes itself, which took most of a short command's time.
    private static func name(of command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? command._commandName
    }
}
