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
        guard let explained = error as? any Explained else {
            if asJSON, Latchkey.exitCode(for: error) == .validationFailure {
                Terminal.error(usage.text)
                Glibc.exit(ExitStatus.usage.rawValue)
            }
            // Usage errors for people, `--help` and exit codes of the argument parser itself.
            Latchkey.exit(withError: error)
        }
        if asJSON {
            Terminal.error(explained.json.text)
        } else {
            Terminal.error("\(Terminal.standardError.red("latchkey:")) \(explained.message)")
            if let remedy = explained.remedy { Terminal.error("  \(remedy)") }
        }
        Glibc.exit(ExitStatus(explained).rawValue)
    }
}

extension Failure {
    /// A usage error in the form that all errors have.
    private var usage: JSON {
        ["error": [
            "code": "command.usage", "message": .string(Latchkey.message(for: error)),
            "remedy": "latchkey help, or --help after the subcommand, lists what there is",
        ]]
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
