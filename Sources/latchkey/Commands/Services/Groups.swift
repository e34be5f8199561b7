import ArgumentParser
import Groundwork

struct Groups: AsyncParsableCommand, DirectoryNoun {
    static let configuration = CommandConfiguration(
        commandName: "groups",
        abstract: "Show and change the groups of the gateway's directory.",
        discussion: """
            Requested as the logged-in user, or as this board if no user is logged in.

              $ latchkey groups create fitters alice bob
              $ latchkey groups remove fitters bob
            """,
        subcommands: [List.self, Show.self, Create.self, Add.self, Remove.self, Delete.self],
        defaultSubcommand: List.self)

    static let noun = "group"
    static let heads = ["GROUP", "OWNER", "MEMBERS", "ID"]

    static func row(_ group: JSON) -> [String] {
        [
            group["displayName"]?.string ?? "?", group["owner"]?["value"]?.string ?? "",
            "\(group["members"]?.array?.count ?? 0)", group["id"]?.string ?? "",
        ]
    }

    struct Create: RouteCommand {
        static let configuration = CommandConfiguration(commandName: "create", abstract: "Create a group.")
        @Argument(help: "The group's name.") var group: String
        @Argument(help: "The users in the group.") var users: [String] = []
        @Flag(name: .customLong("id"), help: "The users are given by their identifiers, not by their names.")
        var byID = false
        @OptionGroup var options: AccountOptions

        func request() -> RouteRequest {
            .post(
                "groups",
                [
                    "displayName": .string(group), "members": .array(users.map(JSON.string)),
                    "by": byID ? "id" : "name",
                ], timeout: .seconds(90))
        }

        func text(of answer: JSON) -> String { "created the group \(group)" }
    }

    struct Add: RouteCommand {
        static let configuration = CommandConfiguration(commandName: "add", abstract: "Add a user to a group.")
        @Argument(help: "The group's name.") var group: String
        @Argument(help: "The user's name.") var user: String
        @OptionGroup var naming: NamingOptions
        @OptionGroup var options: AccountOptions

        func request() -> RouteRequest {
            .post(
                "groups/\(group.segment)/members", query: naming.query, ["user": .string(user)], timeout: .seconds(90))
        }

        func text(of answer: JSON) -> String { "\(user) is a member of \(group)" }
    }

    struct Remove: RouteCommand {
        static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a user from a group.")
        @Argument(help: "The group's name.") var group: String
        @Argument(help: "The user's name.") var user: String
        @OptionGroup var naming: NamingOptions
        @OptionGroup var options: AccountOptions

        func request() -> RouteRequest {
            .delete("groups/\(group.segment)/members/\(user.segment)", query: naming.query, timeout: .seconds(90))
        }

        func text(of answer: JSON) -> String { "\(user) is no longer a member of \(group)" }
    }

    struct Delete: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete", abstract: "Delete a group.", discussion: "Asks first.")
        @Argument(help: "The group's name.") var group: String
        @Flag(help: "Do not ask for confirmation.") var yes = false
        @OptionGroup var naming: NamingOptions
        @OptionGroup var options: AccountOptions

        func confirm() throws {
            try Confirmation.ask("this deletes the group \(group) at the gateway", isGiven: yes)
        }

        func request() -> RouteRequest {
            .delete("groups/\(group.segment)", query: naming.query, timeout: .seconds(90))
        }

        func text(of answer: JSON) -> String { "deleted the group \(group)" }
    }
}
