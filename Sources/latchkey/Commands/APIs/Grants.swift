import ArgumentParser
import Glibc
import Groundwork

struct Grants: AsyncParsableCommand, Listed {
    static let configuration = CommandConfiguration(
        commandName: "grants",
        abstract: "Show and change what local programs may do in the name of the board or its user.",
        discussion: """
            A grant says which token the programs of a user, a group or a systemd unit may use, where, and for which \
            scopes. Root may do everything; users who may operate may too, unless the settings have grants: [[grants]] of \
            latchkey.toml. A revoked grant ends at once, and so do the calls that it allowed.

              $ latchkey grants allow --unit sensors.service --as board --path '/lab/*'
              $ latchkey grants allow --user alice --as user --scope orders --token
              $ latchkey grants revoke 2
            """,
        subcommands: [List.self, Allow.self, Revoke.self, Log.self], defaultSubcommand: List.self)

    static let list = ListRoute("List the grants, those of the settings first.", "grants", orElse: "no grants")

    struct Allow: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "allow", abstract: "Set what some programs may do, or may never do.")
        @Option(help: "The user of the programs, by name or number.") var user: String?
        @Option(help: "A group that the programs are in, by name or number.") var group: String?
        @Option(help: "The systemd unit of the programs, such as sensors.service.") var unit: String?
        @Option(
            name: .customLong("as"),
            help: ArgumentHelp(
                "Token that they may use: board (the default) or user; may be repeated.", valueName: "who"))
        var principals: [String] = []
        @Option(
            help: ArgumentHelp("Where: gateway (the default) or a configured host; may be repeated."))
        var host: [String] = []
        @Option(help: "A path, or the beginning of paths with /* at its end; may be repeated.") var path: [String] = []
        @Option(help: "A scope that they may ask for beyond the configured ones; may be repeated.")
        var scope: [String] = []
        @Option(help: "An account other than the default one; may be repeated.") var account: [String] = []
        @Flag(help: "Also hand out the token itself.") var token = false
        @Flag(help: "Let them use keys and credentials stored for their user.") var store = false
        @Option(help: ArgumentHelp("Also those of another user, by number; may be repeated.", valueName: "uid"))
        var storeOf: [UInt32] = []
        @Flag(help: "Never allow it, and do not ask.") var never = false
        @OptionGroup var options: ClientOptions

        func validate() throws {
            guard user != nil || group != nil || unit != nil else {
                throw ValidationError("give the programs by --user, --group or --unit")
            }
        }

        func request() throws -> RouteRequest {
            func list(_ texts: [String]) -> JSON? { texts.isEmpty ? nil : .array(texts.map(JSON.string)) }
            return .post(
                "grants",
                [
                    "token": token ? true : nil, "verdict": never ? "never" : "allow",
                    "uid": try user.map { try Self.number($0, "user") { getpwnam($0)?.pointee.pw_uid } },
                    "gid": try group.map { try Self.number($0, "group") { getgrnam($0)?.pointee.gr_gid } },
                    "unit": unit.map(JSON.string), "as": list(principals), "hosts": list(host), "paths": list(path),
                    "scopes": list(scope), "accounts": list(account), "store": store ? true : nil,
                    "storeOf": storeOf.isEmpty ? nil : .array(storeOf.map { .integer(Int64($0)) }),
                ])
        }

        func text(of answer: JSON) -> String { Grants.describe(answer) }

        private static func number(_ text: String, _ noun: String, find: (String) -> UInt32?) throws -> JSON {
            guard let number = UInt32(text) ?? find(text) else {
                throw ValidationError("this machine has no \(noun) \(text)")
            }
            return .integer(Int64(number))
        }
    }

    struct Revoke: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke",
            abstract: "Revoke a grant; calls that are under way by it alone end at once.")
        @Argument(help: "Its number, as latchkey grants list shows it.") var id: String
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest { .delete("grants/\(id.segment)") }

        func text(of answer: JSON) -> String { "revoked: \(Grants.describe(answer))" }
    }

    struct Log: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "log",
            abstract: "Show what programs did: uses, refusals and changes of grants.")
        @Option(help: ArgumentHelp("The largest number of records to show.", valueName: "count")) var limit = 100
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest { .get("grants/log?limit=\(limit)") }

        func text(of answer: JSON) -> String { answer.lines("records", orElse: "", Grants.record) }
    }

    /// `2: alice (uid 1000), sensors.service, as board, gateway /lab/*`.
    static func describe(_ grant: JSON) -> String {
        func list(_ member: String) -> String {
            (grant[member]?.array ?? []).compactMap(\.string).joined(separator: ", ")
        }
        var parts: [String] = []
        if let uid = grant["uid"]?.integer {
            parts.append(user(uid, named: name(of: uid) { getpwuid($0)?.pointee.pw_name }))
        }
        if let gid = grant["gid"]?.integer {
            let name = name(of: gid) { getgrgid($0)?.pointee.gr_name }
            parts.append(name.map { "group \($0) (gid \(gid))" } ?? "gid \(gid)")
        }
        if let unit = grant["unit"]?.string { parts.append(unit) }
        if grant["verdict"]?.string == "never" { parts.append("never") }
        let isOfCalls = grant["verdict"]?.string == "never" || !list("accounts").isEmpty
        if isOfCalls { parts.append("as \(list("as"))") }
        if isOfCalls, list("accounts") != "gateway" { parts.append("account \(list("accounts"))") }
        if !list("hosts").isEmpty { parts.append("\(list("hosts")) \(list("paths"))") }
        if !list("scopes").isEmpty { parts.append("scopes \(list("scopes"))") }
        if grant["token"]?.bool == true { parts.append("with the token") }
        if grant["store"]?.bool == true { parts.append("keys and credentials of its user") }
        let owners = (grant["storeOf"]?.array ?? []).compactMap(\.integer).map(String.init)
        if !owners.isEmpty { parts.append("keys and credentials of uid \(owners.joined(separator: ", "))") }
        if grant["inSettings"]?.bool == true { parts.append("in the settings") }
        if let uses = grant["uses"]?.integer, uses > 0 { parts.append("used \(Amount.of(uses, "time"))") }
        return "\(grant["id"]?.string ?? "?"): " + parts.joined(separator: ", ")
    }

    private static func name(of number: Int64, find: (UInt32) -> UnsafeMutablePointer<CChar>?) -> String? {
        UInt32(exactly: number).flatMap(find).map { Terminal.standardOutput.shown(String(cString: $0)) }
    }

    private static func user(_ uid: Int64, named name: String?) -> String {
        name.map { "\($0) (uid \(uid))" } ?? "uid \(uid)"
    }

    /// `2026-11-22T10:00:00Z refused: alice (uid 1000), sensors.service, api.example:443`.
    private static func record(_ record: JSON) -> String {
        var parts = ["unit", "host", "as"].compactMap { record[$0]?.string }
        if let uid = record["uid"]?.integer {
            // A user without a name has the number in its place.
            let name = record["user"]?.string.flatMap { $0 == "\(uid)" ? nil : $0 }
            parts.insert(user(uid, named: name.map(Terminal.standardOutput.shown)), at: 0)
        }
        if let grant = record["grant"]?.string { parts.append("grant \(grant)") }
        if let by = record["by"]?.string { parts.append("by \(by)") }
        if let times = record["times"]?.integer, times > 1 { parts.append(Amount.of(times, "time")) }
        return "\(record["time"]?.string ?? "") \(record["outcome"]?.string ?? ""): " + parts.joined(separator: ", ")
    }
}
