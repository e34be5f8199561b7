import ArgumentParser
import Groundwork

struct Logout: RouteCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Log the user out, at the gateway and here.",
        discussion: """
            The board stays registered, with its own certificate and tokens. While single sign-on is on at the \
            gateway, the session of every program of this device ends; '--all' and '--only-this' choose.
            """)
    @Flag(help: "Log out here even if the gateway does not answer.") var force = false
    @Flag(help: "End the session of every program of this device.") var all = false
    @Flag(help: "End this board's own session only.") var onlyThis = false
    @OptionGroup var options: AccountOptions

    func validate() throws {
        guard !all || !onlyThis else { throw ValidationError("give one of --all and --only-this") }
    }

    func request() -> RouteRequest {
        .post(
            "logout", ["force": .bool(force), "allPrograms": all || onlyThis ? .bool(all) : nil], timeout: .seconds(90),
            saying: "logging out")
    }

    func text(of answer: JSON) -> String {
        "logged out \(Terminal.standardOutput.shown(answer["userName"]?.string ?? "a user without a name"))"
    }
}

struct Whoami: RouteCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami",
        abstract: "Show who is logged in on this board.", discussion: "Ends with status 1 if no user is logged in.")
    @Flag(help: "Show the user's profile from the gateway.") var info = false
    @Flag(help: "Show the profile that was last read from the gateway.") var profile = false
    @Flag(help: "Ask the gateway whether the user's session is still valid.") var session = false
    @OptionGroup var options: AccountOptions

    func validate() throws {
        guard [info, profile, session].count(where: { $0 }) <= 1 else {
            throw ValidationError("give one of --info, --profile and --session")
        }
    }

    private var route: String { info ? "user/info" : profile ? "user/profile" : session ? "user/session" : "user" }

    func run() async throws {
        let user = try await sendAndShow()
        guard route != "user" || user["loggedIn"]?.bool == true else { throw ExitCode(1) }
    }

    func request() -> RouteRequest { .get(route, timeout: .seconds(90), saying: "asking for the user") }

    func text(of user: JSON) -> String {
        var fields = Fields()
        guard route == "user" else {
            for (key, value) in (user.object ?? [:]).sorted(by: { $0.key < $1.key }) {
                fields.add(key, value.string ?? value.text)
            }
            return Terminal.standardOutput.shown(fields.text)
        }
        guard user["loggedIn"]?.bool == true else {
            if user["locked"]?.bool == true {
                let name = Terminal.standardOutput.shown(user["userName"]?.string ?? "a user without a name")
                return "the session of \(name) is locked; unlock it: latchkey unlock"
            }
            if user["hidden"]?.bool == true {
                return "who is logged in is locked with the store; unlock it: latchkey vault unlock"
            }
            let isAnonymous = user["status"]?.string == "anonymous"
            return "no user is logged in" + (isAnonymous ? "; the board itself has a token" : "")
        }
        fields.add("user", Terminal.standardOutput.shown(user["userName"]?.string ?? "without a name"))
        fields.add("since", user["loggedInAt"]?.string)
        fields.add("session ends", user["sessionEnds"]?.string)
        return fields.text
    }
}
