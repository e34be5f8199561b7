import ArgumentParser

/// Finds command names that do not exist, which the argument parser would take for arguments that are too many.
struct CommandNames {
    /// The edits (a character inserted, removed or replaced) up to which a name is taken for a mistyped one.
    private static let farthest = 2

    /// - Throws: ``UsageError/unknownCommand(name:path:suggestion:)``
    static func check(_ arguments: some Sequence<String>, of root: any ParsableCommand.Type) throws(UsageError) {
        var (command, path) = (root, name(of: root))
        for (position, argument) in arguments.enumerated() {
            let choices = command.configuration.subcommands
            guard !argument.hasPrefix("-"), !choices.isEmpty else { return }
            // `help` is the argument parser's own, and is followed by the names of a command.
            if position == 0, argument == "help" { continue }
            guard let next = choices.first(where: { name(of: $0) == argument }) else {
                throw .unknownCommand(
                    name: argument, path: path,
                    suggestion: suggestion(for: argument, among: choices.map(name) + (path == name(of: root) ? ["help"] : []))
                        .map { "\(path) \($0)" })
            }
            (command, path) = (next, "\(path) \(name(of: next))")
        }
    }

    /// The nearest of the names, where one is near.
    static func suggestion(for typed: String, among names: [String]) -> String? {
        if typed.count > 1, let whole = names.first(where: { $0.hasPrefix(typed) }) { return whole }
        let near = names.map { (name: $0, edits: edits(from: typed, to: $0)) }.min { $0.edits < $1.edits }
        guard let near, near.edits <= min(farthest, typed.count / 2) else { return nil }
        return near.name
    }

    private static func name(of command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? String(describing: command).lowercased()
    }

    /// The least number of characters to insert, remove or replace (Levenshtein distance).
    private static func edits(from: String, to: String) -> Int {
        let target = Array(to)
        var row = Array(0...target.count)
        for (line, character) in from.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for column in target.indices {
                let replaced = diagonal + (character == target[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
            }
        }
        return row[target.count]
    }
}
