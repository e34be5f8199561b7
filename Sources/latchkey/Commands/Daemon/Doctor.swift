import Agent
import AgentCore
import AgentInstallation
import ArgumentParser
import FoundationEssentials
import Glibc
import Groundwork
import LocalAPI

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check everything the agent depends on, and explain how to fix what fails.",
        discussion:
            "Without the daemon, it checks what the daemon would start with, as far as this user can see it, and says "
            + "why it does not run; nothing is changed, and nothing sealed is opened. Exit status 0 when nothing failed, "
            + "also with warnings; 1 when something failed; 69 when the daemon is not running or does not answer; 77 when this user may not ask it."
    )

    @OptionGroup var options: ClientOptions

    func run() async throws {
        var answer: JSON
        do {
            answer = try await ProgressLine.show("checking") {
                try await options.client.get("/v1/doctor", timeout: .seconds(90))
            }
        } catch let error as LocalAPIError {
            let report = await ProgressLine.show("checking what it would start with") {
                InstallationDoctor.examine(
                    socketPath: options.socketPath, settingsPath: Environment["LATCHKEY_CONFIG"], of: Features.all,
                    after: error)
            }
            guard let report else { throw error }
            if !options.json {
                let out = Terminal.standardOutput
                Terminal.line("\(out.bold("The agent does not answer.")) What the daemon would start with:\n")
            }
            show(report)
            throw ExitCode(error.kind.exitStatus.rawValue)
        }
        if geteuid() == 0 {
            answer = InstallationDoctor.completed(
                answer, settingsPath: Environment["LATCHKEY_CONFIG"], of: Features.all)
        }
        show(answer)
        guard answer["worst"]?.string != "fail" else { throw ExitCode(ExitStatus.failure.rawValue) }
    }

    private func show(_ report: JSON) {
        options.show(report) { report in
            let checks = report["checks"]?.array ?? []
            return (checks.map(line) + ["", Self.summary(of: checks)]).joined(separator: "\n")
        }
    }

    /// `14 checks: 10 passed, 2 warnings, 2 skipped`.
    private static func summary(of checks: [JSON]) -> String {
        func count(_ verdict: String) -> Int64 { Int64(checks.count { $0["verdict"]?.string == verdict }) }
        var parts = ["\(count("pass")) passed"]
        if count("warn") > 0 { parts.append(Amount.of(count("warn"), "warning")) }
        if count("fail") > 0 { parts.append("\(count("fail")) failed") }
        if count("skip") > 0 { parts.append("\(count("skip")) skipped") }
        return "\(Amount.of(Int64(checks.count), "check")): \(parts.joined(separator: ", "))"
    }

    private func line(_ check: JSON) -> String {
        let out = Terminal.standardOutput
        let verdict = check["verdict"]?.string ?? "?"
        let mark =
            switch verdict {
            case "pass": out.green("pass")
            case "warn": out.yellow("warn")
            case "skip": out.dim("skip")
            default: out.red(verdict)
            }
        let text = "\(mark)  \(out.bold(check["name"]?.string ?? "?")): \(check["message"]?.string ?? "")"
        return check["remedy"]?.string.map { "\(text)\n      \($0)" } ?? text
    }
}
