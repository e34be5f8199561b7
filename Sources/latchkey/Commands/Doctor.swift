import Agent
import ArgumentParser
import FoundationEssentials
import Groundwork
import LocalAPI

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check everything the agent lives on, and say what to do where it fails.",
        discussion: "Without the daemon: what it would start with. Exit status 0: all passed or warned; 1: something failed; "
            + "69: the daemon is not running; 77: this user may not ask it.")

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let answer: JSON
        do {
            answer = try await options.client.get("/v1/doctor", timeout: .seconds(90))
        } catch {
            let settings = ProcessInfo.processInfo.environment["LATCHKEY_CONFIG"]
            guard let report = InstallationDoctor.examine(settingsPath: settings, after: error) else { throw error }
            show(report)
            throw ExitCode(ExitStatus(error).rawValue)
        }
        show(answer)
        guard answer["worst"]?.string != "fail" else { throw ExitCode(ExitStatus.failure.rawValue) }
    }

    private func show(_ report: JSON) {
        options.show(report) { report in (report["checks"]?.array ?? []).map(line).joined(separator: "\n") }
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
