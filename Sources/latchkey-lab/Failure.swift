import ArgumentParser
import Foundation
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
        if let explained = error as? any Explained {
            report(explained.message, explained.remedy, code: explained.code)
            Foundation.exit(ExitStatus(code: explained.code).rawValue)
        }
        let status = LatchkeyLab.exitCode(for: error)
        // `--help`, `--version` and statuses without a word are the argument parser's own.
        guard status != .success, !(error is ExitCode) else { LatchkeyLab.exit(withError: error) }
        let text = LatchkeyLab.fullMessage(for: error)
        let prefix = "Error: "
        report(text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text, nil, code: "lab.usage")
        Foundation.exit(status.rawValue)
    }

    private func report(_ message: String, _ remedy: String?, code: String) {
        var text = "latchkey-lab: \(message)\n" + (remedy.map { "  \($0)\n" } ?? "")
        if asJSON {
            var members: [String: JSON] = ["code": .string(code), "message": .string(message)]
            members["remedy"] = remedy.map { .string($0) }
            text = JSON.object(["error": .object(members)]).text + "\n"
        }
        FileHandle.standardError.write(Data(text.utf8))
    }
}

/// What a script learns from the exit status (`sysexits.h`), as with `latchkey`.
struct ExitStatus: RawRepresentable, Equatable {
    let rawValue: Int32

    static let failure = ExitStatus(rawValue: 1)
    static let usage = ExitStatus(rawValue: EX_USAGE)
    static let input = ExitStatus(rawValue: EX_DATAERR)
    static let unavailable = ExitStatus(rawValue: EX_UNAVAILABLE)
    static let noPermission = ExitStatus(rawValue: EX_NOPERM)
    static let configuration = ExitStatus(rawValue: EX_CONFIG)

    init(rawValue: Int32) { self.rawValue = rawValue }

    /// - Parameter code: of an error, thrown here or answered by the lab.
    init(code: String) {
        self = switch code {
        case "lab.bad-prefix", "lab.usage": .usage
        case "lab.bad-input", "lab.no-such-thing": .input
        case "lab.not-running", "lab.cannot-listen", "lab.broker-failed": .unavailable
        case "lab.unauthorized": .noPermission
        case "lab.cannot-keep", "lab.state-unreadable", "lab.broker-missing", "lab.broker-plugin-missing":
            .configuration
        default: .failure
        }
    }
}
