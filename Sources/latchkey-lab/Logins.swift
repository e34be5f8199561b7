import ArgumentParser
import Groundwork

struct Logins: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the logins that boards have started, or decide about one.",
        discussion: """
            A login waits until a user authorizes it, with another device or in a browser. To authorize it without \
            either: latchkey-lab logins authorize https://localhost:8443/auth/device/authorization/7b… --user alice
            For 'latchkey login --jwt': latchkey-lab logins token --user alice
            """)

    @OptionGroup var lab: AdminOptions

    enum Action: String, ExpressibleByArgument, CaseIterable {
        case list, authorize, refuse, token
    }

    @Argument(help: "list, authorize, refuse or token.")
    var action = Action.list

    @Argument(help: "The login: the URL in the board's QR code, or its last part.")
    var login: String?

    @Option(help: "User who authorizes it.")
    var user = "alice"

    func validate() throws {
        let takesLogin = [.authorize, .refuse].contains(action)
        guard takesLogin == (login != nil) else {
            throw ValidationError("\(action.rawValue) \(takesLogin ? "needs a" : "takes no") login.")
        }
    }

    func run() async throws {
        if action == .token {
            let answer = try await lab.call("POST", "tokens", ["user": .string(user)])
            return lab.show(answer) { $0["token"]?.string ?? "" }
        }
        guard let login else {
            let table = Table("LOGIN", "STATUS", "USER", "MAG-IDENTIFIER")
            return try await lab.showList("authorizations", called: "logins", table) { table, login in
                func part(_ name: String) -> String { login[name]?.string ?? "" }
                table.add(part("id"), part("status"), part("user"), part("mag_identifier"))
            }
        }
        // A URL ends with the lab's id of the login.
        let id = login.split(separator: "/").last.map(String.init) ?? login
        let answer = try await lab.call("POST", "authorizations/\(id)/\(action.rawValue)", ["user": .string(user)])
        lab.show(answer) { _ in action == .authorize ? "authorized as \(user)" : "refused" }
    }
}
