import ArgumentParser
import Foundation
import Groundwork

/// Reports an error to the calling person or program: text and remedy, or JSON, and an exit status.
struct Failure {
    private let error: any Error
    private let asJSON: Bool

    init(_ error: any Error, asJSON: Bool) {
        self.error = error
        self.asJSON = asJSON
    }

    func exit() -> Never {
        let status = LatchkeyLab.exitCode(for: error)
        // `--help`, `--version` and silent statuses are handled by the argument parser.
        guard error is any Explained || (status != .success && !(error is ExitCode))
        else { LatchkeyLab.exit(withError: error) }
        let explanation =
            (error as? any Explained)?.explanation ?? parserExplanation(isUsage: status == .validationFailure)
        let text =
            asJSON
            ? explanation.answer.text
            : "latchkey-lab: \(explanation.message)" + (explanation.remedy.map { "\n  \($0)" } ?? "")
        FileHandle.standardError.write(Data((text + "\n").utf8))
        Foundation.exit(explanation.kind.exitStatus.rawValue)
    }

    /// The argument parser's message, in the form of all other errors.
    private func parserExplanation(isUsage: Bool) -> Explanation {
        let text = LatchkeyLab.fullMessage(for: error)
        let prefix = "Error: "
        return Explanation(
            isUsage ? "lab.usage" : "lab.failed", isUsage ? .misuse : .internal,
            text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text)
    }
}
