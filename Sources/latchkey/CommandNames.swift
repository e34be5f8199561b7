import ArgumentParser

/// Finds command names that do not exist, which the argument parser would report as unexpected arguments.
struct CommandNames {
    /// - Throws: ``UsageError/unknownCommand(name:path:suggestion:)``
    static func check(_ arguments: some Sequence<String>, of root: any ParsableCommand.Type) throws(UsageError) {
        var (command, path) = (root, name(of: root))
        for (position, argument) in arguments.enumerated() {
            let choices = command.configuration.subcommands
            guard !argument.hasPrefix("-"), !choices.isEmpty else { return }
            // `help` belongs to the argument parser, and is followed by the names of a command.
            if position == 0, argument == "help" { continue }
            guard let next = choices.first(where: { name(of: $0) == argument }) else {
                let names = choices.map(name) + (path == name(of: root) ? ["help"] : [])
                let suggestion = NearNames.suggestion(for: argument, among: names)
                throw .unknownCommand(name: argument, path: path, suggestion: suggestion.map { "\(path) \($0)" })
            }
            (command, path) = (next, "\(path) \(name(of: next))")
        }
    }

    /// Each command says its name: of one that does not, the argument parser makes it from the type's, and asks the
    /// runtime whether that type describes itself, which took most of a short command's time.
    private static func name(of command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? command._commandName
    }
}
