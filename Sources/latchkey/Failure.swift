import ArgumentParser
import Glibc
import Groundwork

/// An error as reported to the calling person or program: text and remedy, or JSON, and an exit status.
struct Failure {
    private let error: any Error
    private let asJSON: Bool

    init(_ error: any Error, asJSON: Bool) {
        self.error = error
        self.asJSON = asJSON
    }

    func exit() -> Never {
        guard let explanation = (error as? any Explained ?? usageError)?.explanation else {
            // `--help`, and the exit statuses of commands.
            let code = Latchkey.exitCode(for: error)
            guard code.isSuccess else { Latchkey.exit(withError: error) }
            let text = Latchkey.fullMessage(for: error)
            if !text.isEmpty { Terminal.line(text) }
            Glibc.exit(code.rawValue)
        }
        if asJSON {
            Terminal.error(Terminal.standardError.shownJSON(explanation.answer.text))
        } else {
            let err = Terminal.standardError
            Terminal.error("\(err.red("latchkey:")) \(err.shown(explanation.message))")
            if let remedy = explanation.remedy {
                Terminal.error("  " + err.shown(remedy).split(separator: "\n").joined(separator: "\n  "))
            }
        }
        Glibc.exit(error is OutputError ? OutputError.exitStatus : explanation.kind.exitStatus.rawValue)
    }

    /// The argument parser's error, in the form of all other errors.
    private var usageError: UsageError? {
        guard Latchkey.exitCode(for: error) == .validationFailure else { return nil }
        let lines = Latchkey.fullMessage(for: error).split(separator: "\n").map(String.init)
        guard let first = lines.first, !(error is ExitCode) else { return nil }
        let prefix = "Error: "
        let usage = lines.dropFirst().map { String($0.drop { $0 == " " }) }.joined(separator: "\n")
        return .invalid(
            message: first.hasPrefix(prefix) ? String(first.dropFirst(prefix.count)) : first,
            usage: usage.isEmpty ? nil : usage)
    }
}
