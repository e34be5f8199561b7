#if MPin
import ArgumentParser
import Groundwork
import LocalAPI

struct MPinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mpin",
        abstract: "Register users at an M-Pin back end, and log in with a PIN.",
        discussion: """
            A back end is an account of this board with its own users. A user has a token on this board and a PIN that \
            only the person knows; one is useless without the other.

              $ latchkey mpin backend add door https://door.example
              $ latchkey mpin user new alice@example.com
              $ latchkey mpin register start
              $ latchkey mpin register confirm
              $ latchkey mpin register finish
              $ latchkey mpin login

            The PIN is asked for without echo; it can be given elsewhere too, with 'latchkey prompts', on the console's \
            page, or on the keypad that the settings name. '--account' and '--user' are required if there are several.
            """,
        subcommands: [
            MPinBackends.self, MPinUsers.self, MPinRegister.self, MPinLogin.self, MPinOTP.self, MPinAccessNumber.self,
            MPinMFA.self, MPinSession.self, MPinLogout.self,
        ])
}

/// The back end that a subcommand is about.
struct MPinAccountOption: ParsableArguments {
    @Option(help: ArgumentHelp("The back end; required if there are several.", valueName: "name"))
    var account: String?

    func validate() throws {
        if let account { _ = try AccountOption.name(account) }
    }

    /// - Returns: the account, as the daemon reports it.
    /// - Throws: `LocalAPIError`; ``MPinChoiceError`` if none is named, and there is not exactly one.
    func found(by client: LocalClient) async throws -> JSON {
        if let account { return try await client.get("/v1/accounts/\(account)") }
        let all = try await Self.all(of: client)
        // Where there are several, one may be in use.
        let current = all.first {
            AccountOption.environment.map { [name = $0["name"]?.string] in $0 == name }
                ?? ($0["isCurrent"]?.bool == true)
        }
        if let current { return current }
        guard all.count < 2 else { throw MPinChoiceError.account(all.compactMap { $0["name"]?.string }) }
        guard let only = all.first else { throw MPinChoiceError.noAccount }
        return only
    }

    static func all(of client: LocalClient) async throws -> [JSON] {
        let accounts = try await client.get("/v1/accounts")["accounts"]?.array ?? []
        return accounts.filter { $0["kind"]?.string == "mpin" }
    }

    /// The path of a route for the account.
    ///
    /// - Parameter route: below the account's `mpin`.
    func path(_ route: String, by client: LocalClient) async throws -> String {
        if let account { return "/v1/accounts/\(account)/mpin/\(route)" }
        return "/v1/accounts/\(try await found(by: client)["name"]?.string ?? "")/mpin/\(route)"
    }
}

/// The options of a subcommand that is about one back end.
struct MPinAccountOptions: RouteOptions {
    @OptionGroup var account: MPinAccountOption
    @OptionGroup var clientOptions: ClientOptions

    func path(_ route: String) async throws -> String { try await account.path(route, by: client) }
}

/// The options of a subcommand that is about one user of a back end.
struct MPinUserOptions: RouteOptions {
    @OptionGroup var account: MPinAccountOption
    @Option(help: ArgumentHelp("The user; required if there are several.", valueName: "id")) var user: String?
    @OptionGroup var clientOptions: ClientOptions

    /// - Returns: the path of a route for the user.
    /// - Throws: `LocalAPIError`, ``MPinChoiceError``
    func path(_ route: String) async throws -> String {
        let found = try await account.found(by: client)
        let users = found["users"]?.array?.compactMap { $0["user"]?.string } ?? []
        guard user != nil || users.count < 2 else { throw MPinChoiceError.user(users) }
        guard let user = user ?? users.first else { throw MPinChoiceError.noUser }
        return "/v1/accounts/\(found["name"]?.string ?? "")/mpin/users/\(user.segment)/\(route)"
    }
}

/// It is not clear whom a subcommand is about.
enum MPinChoiceError: Explained, Equatable {
    case noAccount
    case account([String])
    case noUser
    case user([String])

    var explanation: Explanation {
        switch self {
        case .noAccount:
            Explanation(
                "mpin.no-account", .notFound, "this board has no account at an M-Pin back end",
                remedy: "make one: latchkey mpin backend add NAME URL")
        case .account(let names):
            Explanation(
                "mpin.account-unclear", .misuse, "there are several M-Pin back ends: \(names.joined(separator: ", "))",
                remedy: "name one: --account NAME")
        case .noUser:
            Explanation(
                "mpin.no-user", .notFound, "the M-Pin back end has no user here",
                remedy: "make one: latchkey mpin user new ID")
        case .user(let names):
            Explanation(
                "mpin.user-unclear", .misuse,
                "there are several users: \(names.map(Terminal.withoutControls).joined(separator: ", "))",
                remedy: "name one: --user ID")
        }
    }

    static let examples: [MPinChoiceError] = [.noAccount, .account(["NAME"]), .noUser, .user(["ID"])]
}

extension MPinCommand {
    /// A user of a back end in a line, with what comes next.
    static func describe(_ user: JSON) -> String {
        let out = Terminal.standardOutput
        let name = out.shown(user["user"]?.string ?? "?")
        let state = user["state"]?.string ?? "?"
        let next: String? =
            switch state {
            case "INVALID": "latchkey mpin register start"
            case "STARTED_REGISTRATION": "verify the user as the back end asks, then: latchkey mpin register confirm"
            case "ACTIVATED": "latchkey mpin register confirm, then: latchkey mpin register finish"
            case "BLOCKED": "latchkey mpin user delete, and register again"
            default: nil
            }
        let isConfirmed = user["confirmed"]?.bool == true
        let shown = isConfirmed ? "latchkey mpin register finish" : next
        return "\(name)  \(state == "REGISTERED" ? out.green(state) : out.yellow(state))"
            + (shown.map { out.dim("  next: \($0)") } ?? "")
    }
}
#endif
