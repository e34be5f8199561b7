import Agent
import AgentCore
import ArgumentParser
import Groundwork

struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Print the version of this program and of the libraries it runs with.")

    @Flag(help: "Print JSON.") var json = false

    func run() {
        if json {
            Terminal.line(Version.report.text)
        } else {
            var fields = Fields()
            fields.add("latchkey", Version.text)
            for library in Version.libraries { fields.add(library.name, library.version) }
            Terminal.line(fields.text)
        }
    }
}
