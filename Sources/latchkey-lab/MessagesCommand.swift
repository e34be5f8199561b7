import ArgumentParser
import Groundwork

struct MessagesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "messages", abstract: "Print the messages the broker has passed on, oldest first.",
        discussion: "Exit status 1 if there are none.")

    @OptionGroup var lab: AdminOptions

    @Option(help: ArgumentHelp("Only topics that end with this text.", valueName: "end"))
    var topic = ""

    @Option(help: ArgumentHelp("Show the newest n messages.", valueName: "n"))
    var count = 20

    func run() async throws {
        let state = try await lab.call("GET", "state")
        let messages = (state["messages"]?.array ?? []).filter { $0["topic"]?.string?.hasSuffix(topic) == true }
        let newest = Array(messages.prefix(count).reversed())
        guard !newest.isEmpty else { throw ExitCode.failure }
        lab.show(.array(newest)) { _ in
            newest.map { "\($0["topic"]?.string ?? "")  \($0["payload"]?.string ?? "")" }.joined(separator: "\n")
        }
    }
}
