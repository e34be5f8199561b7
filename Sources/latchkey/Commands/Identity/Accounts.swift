import Agent
import AgentCore
import ArgumentParser
import Groundwork
import LocalAPI

/// The account that a subcommand is about.
struct AccountOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The account (environment: LATCHKEY_ACCOUNT); without it, the one of 'latchkey accounts use'.",
            valueName: "name"), completion: completion)
    var account: String?

    /// The names of the accounts that there are; none where the daemon does not answer at once.
    static let completion = CompletionKind.custom { (_: [String], _: Int, _: String) async -> [String] in
        let socket = Environment["LATCHKEY_SOCKET"] ?? AgentConfiguration.defaultSocketPath
        let answer = try? await LocalClient(socketPath: socket).get("/v1/accounts", timeout: .seconds(2))
        return answer?["accounts"]?.array?.compactMap { $0["name"]?.string } ?? []
    }

    /// The account that the person has named, here or for all commands.
    var named: String? { account ?? Self.environment }

    /// That of the environment.
    static var environment: String? { Environment["LATCHKEY_ACCOUNT"] }

    func validate() throws {
        if let named { _ = try Self.name(named) }
    }

    /// The account that is meant: the one named, else the one that the daemon has been told to use.
    func chosen(by client: LocalClient) async throws(LocalAPIError) -> ChosenAccount {
        try await Self.chosen(named, by: client)
    }

    static func chosen(_ named: String?, by client: LocalClient) async throws(LocalAPIError) -> ChosenAccount {
        if let named { return ChosenAccount(name: named) }
        let current = try await client.get("/v1/current-account")["account"]?.string
        // The default account is meant where a path names none.
        return ChosenAccount(name: current == AccountName.gateway.text ? nil : current)
    }

    /// The path of a route for the account that is meant.
    ///
    /// - Parameter route: below `/v1/`.
    func path(_ route: String, by client: LocalClient) async throws(LocalAPIError) -> String {
        try await chosen(by: client).path(route)
    }

    static func name(_ text: String) throws -> AccountName {
        guard let name = AccountName(text) else {
            throw ValidationError(
                "the name of an account has 1 to \(AccountName.limit) lower-case letters, digits and hyphens, "
                    + "no hyphen first")
        }
        return name
    }
}

/// An account that a subcommand is about.
struct ChosenAccount {
    /// `nil` for the default one.
    let name: String?

    /// The path of a route for the account.
    ///
    /// - Parameter route: below `/v1/`.
    func path(_ route: String) -> String { name.map { "/v1/accounts/\($0)/\(route)" } ?? "/v1/\(route)" }

    /// Its name, also of the default one.
    var shown: String { name ?? AccountName.gateway.text }
}

struct Accounts: AsyncParsableCommand, Listed {
    static let configuration = CommandConfiguration(
        commandName: "accounts",
        abstract: "Add, show, choose and remove the accounts of this board.",
        discussion: """
            An account is a name for the board's relation to one server: its registration there, its tokens and \
            the user who is logged in. 'gateway' is the default one; others at gateways are made with \
            'latchkey enroll --account NAME', those at OAuth servers and at brokers with \
            'latchkey accounts add NAME'.

            Commands without --account use the one that was chosen last:

              $ latchkey accounts use plant2
              $ latchkey accounts current
            """,
        subcommands: [List.self, Show.self, Use.self, Current.self, Add.self, Introspect.self, Remove.self],
        defaultSubcommand: List.self)

    static let list = ListRoute(
        "List the accounts, the default one first.", "accounts", orElse: "no accounts; enroll with: latchkey enroll -")

    struct Use: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "use",
            abstract: "Choose the account that commands use without --account.",
            discussion: """
                Applies to every user of this board until another is chosen; 'latchkey accounts use gateway' undoes it. \
                A script should name its account, with --account or in the environment variable LATCHKEY_ACCOUNT. \
                Programs on the local API, messages and login with devices nearby are not affected.
                """)
        @Argument(help: "The name of the account.", completion: AccountOption.completion) var name: String
        @OptionGroup var options: ClientOptions

        func validate() throws { _ = try AccountOption.name(name) }

        func run() async throws {
            try await sendAndShow()
            guard let other = AccountOption.environment, other != name else { return }
            Terminal.error(
                "LATCHKEY_ACCOUNT is set here: the account \(Terminal.standardError.shown(other)) comes first")
        }

        func request() -> RouteRequest { .post("current-account", ["account": .string(name)]) }

        func text(of answer: JSON) -> String { "commands use the account \(answer["account"]?.string ?? "")" }
    }

    struct Current: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "current",
            abstract: "Show the account that commands use without --account.")
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let account = try await AccountOption.chosen(AccountOption.environment, by: options.client)
            options.show(["account": .string(account.shown)]) { $0["account"]?.string ?? "" }
        }
    }

    struct Remove: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove an account, with everything that is stored for it.",
            discussion: """
                At a gateway it must not be registered any more: run 'latchkey deregister --account NAME' first. At an \
                OAuth server its tokens are revoked, and a client that the board registered is deleted. At a \
                broker, the messages that wait for it are deleted too.
                """)
        @Argument(help: "The name of the account.", completion: AccountOption.completion) var name: String
        @Flag(help: "Remove it even if an OAuth server does not answer.") var force = false
        @OptionGroup var options: ClientOptions

        func validate() throws { _ = try AccountOption.name(name) }

        func request() -> RouteRequest {
            .delete(
                "accounts/\(name)", query: ["force": force ? "true" : nil], timeout: .seconds(180),
                saying: "removing the account")
        }

        func text(of answer: JSON) -> String { "removed the account \(answer["removed"]?.string ?? "")" }
    }

    /// `plant2  https://gw.example:8443, registered`.
    static func describe(_ account: JSON) -> String { "\(account["name"]?.string ?? "?")  \(summary(of: account))" }

    /// `https://gw.example:8443, registered, user alice, uses the broker`.
    static func summary(of account: JSON) -> String {
        let out = Terminal.standardOutput
        let server = account["server"]?["issuer"]?.string ?? account["server"]?["clientID"]?.string
        let backend = account["backend"]?["url"]?.string
        let broker = account["broker"]?["address"]?.string
        var parts = [account["gateway"]?["url"]?.string ?? (server ?? backend ?? broker).map(out.shown) ?? "?"]
        if let state = account["broker"]?["state"]?.string { parts.append("broker, \(state)") }
        if backend != nil { parts.append("M-Pin, \(Amount.of(Int64(account["users"]?.array?.count ?? 0), "user"))") }
        if let grant = account["server"]?["grant"]?.string { parts.append(grant) }
        if let state = account["registration"]?["state"]?.string {
            parts.append(state == "registered" ? out.green(state) : out.yellow(state))
        }
        if let user = account["user"]?["userName"]?.string { parts.append("user \(out.shown(user))") }
        if account["usesBroker"]?.bool == true { parts.append("uses the broker") }
        if account["isCurrent"]?.bool == true, account["isDefault"]?.bool != true { parts.append("in use by commands") }
        if account["needsPerson"]?.bool == true { parts.append(out.yellow("no user is logged in")) }
        let isUnusable = ["gateway", "server", "backend", "broker"].allSatisfy { account[$0] == nil }
        if isUnusable || account["registration"]?["state"]?.string == "unknown",
            let fault = account["lastError"]?["message"]?.string
        {
            parts.append(out.red("unusable: \(out.shown(fault))"))
        }
        return parts.joined(separator: ", ")
    }
}
