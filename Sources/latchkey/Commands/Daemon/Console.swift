import ArgumentParser
import Groundwork

struct Console: RouteCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Open the board's page in a browser.",
        discussion: """
            Prints an address that works once, within two minutes, and only on this board: the page listens on \
            loopback. It shows the board's state, sensors, messages and log, and what waits for an answer can be \
            answered there, with the rights that you have here. The settings have to allow it: console.enabled.

              $ latchkey console
              $ latchkey console --list
              $ latchkey console --end
            """)

    @Flag(help: "List the sessions of the page.") var list = false
    @Flag(help: "End your sessions; as an owner, all sessions.") var end = false
    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard !list || !end else { throw ValidationError("give one of --list and --end") }
    }

    func request() -> RouteRequest { end ? .delete("console") : list ? .get("console") : .post("console") }

    func text(of answer: JSON) -> String {
        if end { return "ended \(Amount.of(answer["ended"]?.integer ?? 0, "session"))" }
        if list { return Self.describe(answer) }
        let port = answer["port"]?.integer ?? 0
        return """
            \(answer["address"]?.string ?? "")

            Open it in a browser on this board within \(Age(seconds: answer["secondsLeft"]?.integer)); it works once.
            From another computer, run there first: ssh -N -L \(port):127.0.0.1:\(port) BOARD
            """
    }

    private static func describe(_ answer: JSON) -> String {
        let sessions = answer["sessions"]?.array ?? []
        guard !sessions.isEmpty else {
            return answer["enabled"]?.bool == true ? "no console sessions" : "the console is off"
        }
        return sessions.map { session in
            let user = Terminal.standardOutput.shown(session["user"]?.string ?? "?")
            return "\(user)  \(session["state"]?.string ?? "?")  "
                + "ends in \(Age(seconds: session["secondsLeft"]?.integer)) if it is not used"
        }.joined(separator: "\n")
    }
}
