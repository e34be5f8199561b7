import ArgumentParser
import CommandWords
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
        let lines = LatchkeyLab.fullMessage(for: error).split(separator: "\n")
        let prefix = "Error: "
        let first = lines.first ?? ""
        let message = String(first.hasPrefix(prefix) ? first.dropFirst(prefix.count) : first)
        let usage = lines.dropFirst().map { String($0.drop { $0 == " " }) }.joined(separator: "\n  ")
        return isUsage ? .usage(message, usage: usage.isEmpty ? nil : usage) : .failed(message)
    }
}

/// The command was not used correctly, or failed with an error of others.
enum ParserError: Explained, Equatable {
    case unknownCommand(UnknownCommand)
    /// The argument parser's error.
    case usage(String, usage: String?)
    /// - Parameter nearest: the codes that were likely meant.
    case unknownCode(String, nearest: [String])
    /// The command failed with an error that does not explain itself.
    case failed(String)

    var explanation: Explanation {
        switch self {
        case .unknownCommand(let unknown):
            Explanation(
                "lab.unknown-command", .misuse, "there is no command \(unknown.name)",
                remedy: unknown.suggestion.map { "did you mean: \($0)" } ?? "\(unknown.path) --help lists the commands")
        case .usage(let message, let usage):
            Explanation(
                "lab.usage", .misuse, message, remedy: usage,
                meaning: "the command was not used as its help describes")
        case .unknownCode(let code, let nearest):
            Explanation(
                "lab.unknown-code", .invalidInput, "the lab has no error code \(code)",
                remedy: nearest.isEmpty
                    ? "latchkey-lab explain --list lists them" : "did you mean: \(nearest.joined(separator: ", "))")
        case .failed(let message):
            Explanation("lab.failed", .internal, message, meaning: "the command failed unexpectedly")
        }
    }

    static let examples: [ParserError] = [
        .unknownCommand(UnknownCommand(name: "NAME", path: "latchkey-lab", suggestion: nil)),
        .usage("FAULT", usage: nil), .unknownCode("CODE", nearest: []), .failed("REASON"),
    ]
}
