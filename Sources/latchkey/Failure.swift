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
            // Usage errors, `--help` and exit codes of the argument parser itself.
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

extension Explained {
    /// The form that errors have on the local API and under `--json`.
    var json: JSON {
        var members: [String: JSON] = ["code": .string(code), "message": .string(message)]
        if let remedy { members["remedy"] = .string(remedy) }
        return ["error": .object(members)]
    }
}
