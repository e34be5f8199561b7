import ArgumentParser
import Glibc
import Groundwork

/// An error on its way to the person or program that called: text and remedy, or JSON, and an exit status.
struct Failure {
    private let error: any Error
    private let asJSON: Bool

    init(_ error: any Error, asJSON: Bool) {
        self.error = error
        self.asJSON = asJSON
    }

    func exit() -> Never {
        guard let explained = error as? any Explained ?? usageError else {
            // `--help`, and the exit statuses of commands.
            Latchkey.exit(withError: error)
        }
        if asJSON {
            Terminal.error(explained.json.text)
        } else {
            Terminal.error("\(Terminal.standardError.red("latchkey:")) \(explained.message)")
            if let remedy = explained.remedy { Terminal.error("  " + remedy.split(separator: "\n").joined(separator: "\n  ")) }
        }
        Glibc.exit(ExitStatus(explained).rawValue)
    }

    /// What the argument parser says, in the form of all other errors.
    private var usageError: UsageError? {
        guard Latchkey.exitCode(for: error) == .validationFailure else { return nil }
        let lines = Latchkey.fullMessage(for: error).split(separator: "\n").map(String.init)
        guard let first = lines.first, !(error is ExitCode) else { return nil }
        let prefix = "Error: "
        let usage = lines.dropFirst().map { String($0.drop { $0 == " " }) }.joined(separator: "\n")
        return .invalid(
            message: first.hasPrefix(prefix) ? String(first.dropFirst(prefix.count)) : first, usage: usage.isEmpty ? nil : usage)
    }
}

extension Explained {
    /// The form that errors have on the local API and under `--json`.
    var json: JSON {
        var members: [String: JSON] = ["code": .string(code), "message": .string(message)]
        if let remedy { members["remedy"] = .string(remedy) }
        return ["error": .object(members)]
    }
}
