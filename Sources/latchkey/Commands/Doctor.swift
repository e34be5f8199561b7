import ArgumentParser
import Groundwork
import LocalAPI

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check everything the agent lives on, and say what to do where it fails.",
        discussion: "Exit status 0: all passed or warned; 1: something failed; 69: the daemon does not run.")

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let answer = try await options.client.get("/v1/doctor", timeout: .seconds(90))
        options.show(answer) { answer in
            (answer["checks"]?.array ?? []).map(line).joined(separator: "\n")
        }
        guard answer["worst"]?.string != "fail" else { throw ExitCode(ExitStatus.failure.rawValue) }
    }

    private func line(_ check: JSON) -> String {
        let out = Terminal.standardOutput
        let verdict = check["verdict"]?.string ?? "?"
        let mark =
            switch verdict {
            case "pass": out.green("pass")
            case "warn": out.yellow("warn")
            default: out.red(verdict)
            }
        let text = "\(mark)  \(out.bold(check["name"]?.string ?? "?")): \(check["message"]?.string ?? "")"
        return check["remedy"]?.string.map { "\(text)\n      \($0)" } ?? text
    }
}
