import ArgumentParser
import Groundwork

struct Logins: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the log-ins that boards began, or decide about one.",
        discussion: """
            A log-in waits until a person authorizes it, with a device of theirs or in a browser; here is how to do
            without: latchkey-lab logins authorize https://localhost:8443/auth/device/authorization/7b… --user alice
            """)

    @OptionGroup var lab: AdminOptions

    enum Action: String, ExpressibleByArgument, CaseIterable {
        case list, authorize, refuse
    }

    @Argument(help: "list, authorize or refuse.")
    var action = Action.list

    @Argument(help: "The log-in: the URL in the board's QR code, or its last part.")
    var login: String?

    @Option(help: "Who authorizes it.")
    var user = "alice"

    func validate() throws {
        guard (action == .list) == (login == nil) else {
            throw ValidationError(action == .list ? "list takes no log-in." : "\(action.rawValue) needs a log-in.")
        }
    }

    func run() async throws {
        guard let login else {
            let table = Table("LOG-IN", "STATUS", "USER", "MAG-IDENTIFIER")
            return try await lab.showList("authorizations", called: "log-ins", table) { table, login in
                func part(_ name: String) -> String { login[name]?.string ?? "" }
                table.add(part("id"), part("status"), part("user"), part("mag_identifier"))
            }
        }
        // A URL ends with what the lab calls the log-in.
        let id = login.split(separator: "/").last.map(String.init) ?? login
        let answer = try await lab.call("POST", "authorizations/\(id)/\(action.rawValue)", ["user": .string(user)])
        lab.show(answer) { _ in action == .authorize ? "authorized as \(user)" : "refused" }
    }
}
