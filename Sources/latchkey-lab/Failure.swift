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
            (error as? any Explained)?.explanation ?? parserError(isUsage: status == .validationFailure).explanation
        let text =
            asJSON
            ? explanation.answer.text
            : "latchkey-lab: \(explanation.message)" + (explanation.remedy.map { "\n  \($0)" } ?? "")
        FileHandle.standardError.write(Data((text + "\n").utf8))
        Foundation.exit(explanation.kind.exitStatus.rawValue)
    }

    /// The argument parser's message, in the form of all other errors.
    private func parserError(isUsage: Bool) -> ParserError {
        let text = LatchkeyLab.fullMessage(for: error)
        let prefix = "Error: "
        let message = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
        return isUsage ? .usage(message) : .failed(message)
    }
}

/// An error that the argument parser reports.
enum ParserError: Explained, Equatable {
    /// The command was not used correctly.
    case usage(String)
    /// The command failed with an error that does not explain itself.
    case failed(String)

    var explanation: Explanation {
        switch self {
        case .usage(let message):
            Explanation("lab.usage", .misuse, message, meaning: "the command was not used as its help describes")
        case .failed(let message):
            Explanation("lab.failed", .internal, message, meaning: "the command failed unexpectedly")
        }
    }

    static let examples: [ParserError] = [.usage("FAULT"), .failed("REASON")]
}
