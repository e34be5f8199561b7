import Agent
import ArgumentParser
import Groundwork
import LocalAPI

/// The account that a subcommand is about.
struct AccountOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The account; without it, the default one. See 'latchkey accounts list'.", valueName: "name"))
    var account: String?

    func validate() throws {
        if let account { _ = try Self.name(account) }
    }

    /// The path of a route for the account.
    ///
    /// - Parameter route: below `/v1/`.
    func path(_ route: String) -> String { Self.path(route, of: account) }

    static func path(_ route: String, of account: String?) -> String {
        account.map { "/v1/accounts/\($0)/\(route)" } ?? "/v1/\(route)"
    }

    /// The name of the account, also of the default one.
    var shown: String { account ?? AccountName.gateway.text }

    static func name(_ text: String) throws -> AccountName {
        guard let name = AccountName(text) else {
            throw ValidationError(
                "the name of an account has 1 to \(AccountName.limit) lower-case letters, digits and hyphens, "
                    + "the first not a hyphen")
        }
        return name
    }
}

struct Accounts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make, show and remove the accounts of this board.",
        discussion: """
            An account is a name for the board's relation to one server: its registration there, its tokens and \
            the user who is logged in. 'gateway' is the default one; others at gateways are made with \
            'latchkey enroll --account NAME', those at OAuth servers with 'latchkey accounts add NAME'.
            """,
        subcommands: [List.self, Show.self, Add.self, Introspect.self, Remove.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List them, the default one first.")
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let answer = try await options.client.get("/v1/accounts")
            options.show(answer, each: "accounts", orElse: "no accounts; enroll with: latchkey enroll -") {
                "\($0["name"]?.string ?? "?")  \(Accounts.describe($0))"
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove an account, with everything that is stored of it.",
            discussion: """
                At a gateway it must not be registered any more: run 'latchkey deregister --account NAME' first. At an \
                OAuth server its tokens are revoked, and a client that the board registered is deleted.
                """)
        @Argument(help: "The name of the account.") var name: String
        @Flag(help: "Remove it even if an OAuth server does not answer.") var force = false
        @OptionGroup var options: ClientOptions

        func validate() throws { _ = try AccountOption.name(name) }

        func run() async throws {
            let answer = try await options.client.delete(
                "/v1/accounts/\(name)\(force ? "?force=true" : "")", timeout: .seconds(180))
            options.show(answer) { "removed the account \($0["removed"]?.string ?? "")" }
        }
    }

    /// `https://gw.example:8443, registered, user alice, uses the broker`.
    static func describe(_ account: JSON) -> String {
        let out = Terminal.standardOutput
        let server = account["server"]?["issuer"]?.string ?? account["server"]?["clientID"]?.string
        let backend = account["backend"]?["url"]?.string
        var parts = [account["gateway"]?["url"]?.string ?? (server ?? backend).map(out.shown) ?? "?"]
        if backend != nil { parts.append("M-Pin, \(Amount.of(Int64(account["users"]?.array?.count ?? 0), "user"))") }
        if let grant = account["server"]?["grant"]?.string { parts.append(grant) }
        if let state = account["registration"]?["state"]?.string {
            parts.append(state == "registered" ? out.green(state) : out.yellow(state))
        }
        if let user = account["user"]?["userName"]?.string { parts.append("user \(out.shown(user))") }
        if account["usesBroker"]?.bool == true { parts.append("uses the broker") }
        if account["needsPerson"]?.bool == true { parts.append(out.yellow("nobody is logged in")) }
        let isUnusable = account["gateway"] == nil && account["server"] == nil && account["backend"] == nil
        if isUnusable || account["registration"]?["state"]?.string == "unknown",
            let fault = account["lastError"]?["message"]?.string
        {
            parts.append(out.red("unusable: \(out.shown(fault))"))
        }
        return parts.joined(separator: ", ")
    }
}
