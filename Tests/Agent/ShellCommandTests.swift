import Agent
import Testing

@testable import AgentCore
@testable import AgentInstallation

@Suite("A command of the shell")
struct ShellCommandTests {
    @Test("a shell command gives what it prints, up to a limit, whatever its exit status")
    func output() {
        #expect(ShellCommand.output(of: "printf 'one\\ntwo'; exit 3", limit: 100) == "one\ntwo")
        #expect(ShellCommand.output(of: "yes | head -c 1000000", limit: 3) == "y\ny")
        #expect(ShellCommand.output(of: "true", limit: 3)?.isEmpty == true)
    }
}
