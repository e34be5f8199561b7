import ArgumentParser
import Groundwork
import LocalAPI

struct Logout: AsyncParsableCommand {
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
    @OptionGroup var account: AccountOption
    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard !all || !onlyThis else { throw ValidationError("give one of --all and --only-this") }
    }

    func run() async throws {
        var body: [String: JSON] = ["force": .bool(force)]
        if all || onlyThis { body["allPrograms"] = .bool(all) }
        let answer = try await LongWork.say("logging out") {
            try await options.client.post(
                account.path("logout", by: options.client), .object(body), timeout: .seconds(90))
        }
        options.show(answer) { answer in
            "logged out \(Terminal.standardOutput.shown(answer["userName"]?.string ?? "a user without a name"))"
        }
    }
}

struct Whoami: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami",
        abstract: "Show who is logged in on this board.", discussion: "Ends with status 1 when nobody is logged in.")
    @Flag(help: "Show the user's profile from the gateway.") var info = false
    @Flag(help: "Show the profile that was last read from the gateway.") var profile = false
    @Flag(help: "Ask the gateway whether the user's session is still valid.") var session = false
    @OptionGroup var account: AccountOption
    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard [info, profile, session].count(where: { $0 }) <= 1 else {
            throw ValidationError("give one of --info, --profile and --session")
        }
    }

    func run() async throws {
        let route = info ? "user/info" : profile ? "user/profile" : session ? "user/session" : "user"
        let user = try await LongWork.say("asking for the user") {
            try await options.client.get(account.path(route, by: options.client), timeout: .seconds(90))
        }
        if route != "user" {
            return options.show(user) { user in
                var fields = Fields()
                for (key, value) in (user.object ?? [:]).sorted(by: { $0.key < $1.key }) {
                    fields.add(key, value.string ?? value.text)
                }
                return Terminal.standardOutput.shown(fields.text)
            }
        }
        options.show(user) { user in
            guard user["loggedIn"]?.bool == true else {
                if user["locked"]?.bool == true {
                    let name = Terminal.standardOutput.shown(user["userName"]?.string ?? "a user without a name")
                    return "the session of \(name) is locked; unlock it: latchkey unlock"
                }
                let isAnonymous = user["status"]?.string == "anonymous"
                return "nobody is logged in" + (isAnonymous ? "; the board itself has a token" : "")
            }
            var fields = Fields()
            fields.add("user", Terminal.standardOutput.shown(user["userName"]?.string ?? "without a name"))
            fields.add("since", user["loggedInAt"]?.string)
            fields.add("session ends", user["sessionEnds"]?.string)
            return fields.text
        }
        guard user["loggedIn"]?.bool == true else { throw ExitCode(1) }
    }
}
