import ArgumentParser
import Groundwork

/// In whose name a subcommand acts, and with which scopes.
struct PrincipalOptions: ParsableArguments {
    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "Act as board or user; by default as the user while one is logged in.", valueName: "who"))
    var principal: String?

    @Option(
        help: ArgumentHelp("A scope needed beyond the configured ones; may be repeated.", valueName: "scope"))
    var scope: [String] = []

    func validate() throws {
        guard ["board", "user"].contains(principal ?? "board") else {
            throw ValidationError("--as is board or user")
        }
    }

    var members: [String: JSON] {
        var members: [String: JSON] = [:]
        members["as"] = principal.map(JSON.string)
        if !scope.isEmpty { members["scope"] = .string(scope.joined(separator: " ")) }
        return members
    }
}

struct Token: RouteCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Print a valid access token, for a program of your own.",
        discussion: """
            Prints the token of the logged-in user, or the board's own if no user is logged in or with --as board.

              $ curl -H "Authorization: Bearer $(latchkey token)" …
              $ latchkey token --as board --scope orders
            """)
    @Flag(help: "Obtain a new one even if the old one is still valid.") var refresh = false
    @Flag(help: "End the board's token, at the gateway too; the next use obtains another.") var revoke = false
    @OptionGroup var principal: PrincipalOptions
    @OptionGroup var options: AccountOptions

    func validate() throws {
        guard revoke else { return }
        guard !refresh, principal.members.isEmpty else {
            throw ValidationError("--revoke ends the board's token; it cannot be used with --refresh, --as or --scope")
        }
    }

    func request() -> RouteRequest {
        if revoke { return .delete("token", timeout: .seconds(90)) }
        let progress = "obtaining a token"
        let members = principal.members
        if refresh { return .post("token/refresh", members, timeout: .seconds(90), saying: progress) }
        return .get(
            "token", query: ["as": members["as"]?.string, "scope": members["scope"]?.string], timeout: .seconds(90),
            saying: progress)
    }

    func text(of answer: JSON) -> String { revoke ? "revoked" : answer["accessToken"]?.string ?? "" }
}
