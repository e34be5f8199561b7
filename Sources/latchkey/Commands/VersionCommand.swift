import Agent
import ArgumentParser
import Groundwork

struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Print the version of this program and of the libraries it runs with.")

    @Flag(help: "Print JSON.") var json = false

    func run() {
        let libraries = Version.libraries
        if json {
            Terminal.line(
                JSON.object([
                    "latchkey": .string(Version.text),
                    "libraries": .object(
                        Dictionary(uniqueKeysWithValues: libraries.map { ($0.name, .string($0.version)) })),
                ]).text)
        } else {
            var fields = Fields()
            fields.add("latchkey", Version.text)
            for library in libraries { fields.add(library.name, library.version) }
            Terminal.line(fields.text)
        }
    }
}
