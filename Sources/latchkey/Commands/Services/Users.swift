import ArgumentParser
import Groundwork

struct Users: AsyncParsableCommand, DirectoryNoun {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "Show the users that the gateway's directory has.",
        discussion: #"""
            Requested as the logged-in user, or as this board if no user is logged in.

              $ latchkey users list --filter 'userName sw "a" and active eq true'
              $ latchkey users show alice
            """#,
        subcommands: [List.self, Show.self, Photo.self, Schema.self],
        defaultSubcommand: List.self)

    static let noun = "user"
    static let heads = ["USER", "NAME", "MAIL", "ID"]

    static func row(_ user: JSON) -> [String] {
        [
            user["userName"]?.string ?? "?", user["displayName"]?.string ?? user["name"]?["formatted"]?.string ?? "",
            user["emails"]?[0]?["value"]?.string ?? "", user["id"]?.string ?? "",
        ]
    }

    struct Photo: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "photo",
            abstract: "Write a user's picture to a file, or print its address.")
        @Argument(help: "The user's name.") var user: String
        @Argument(help: "The file, or - for standard output.") var file: String
        @OptionGroup var naming: NamingOptions
        @OptionGroup var options: AccountOptions

        func run() async throws {
            let photo = try await options.send(
                .get("users/\(user.segment)/photo", query: naming.query, timeout: .seconds(90)))
            if let bytes = photo["bytes"]?.string.flatMap({ Base64.decode($0) }) {
                if file == "-", !options.json { return Terminal.bytes(bytes) }
                if file != "-" { try Output.file(file, bytes) }
            }
            options.show(photo) { $0["url"]?.string ?? "\($0["mediaType"]?.string ?? "?") written to \(file)" }
        }
    }

    struct Schema: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "schema",
            abstract: "Show which attributes the gateway's users or groups have.")
        @Flag(help: "Show the attributes of groups.") var groups = false
        @OptionGroup var options: AccountOptions

        func request() -> RouteRequest { .get("schemas/" + (groups ? "group" : "user"), timeout: .seconds(90)) }

        func text(of schema: JSON) -> String {
            Table.text(of: schema["attributes"], ["ATTRIBUTE", "TYPE", "PARTS"]) { attribute in
                let parts = attribute["subAttributes"]?.array?.compactMap { $0["name"]?.string } ?? []
                return [
                    attribute["name"]?.string ?? "?", attribute["type"]?.string ?? "", parts.joined(separator: ", "),
                ]
            }
        }
    }
}
