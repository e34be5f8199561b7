import ArgumentParser
import Groundwork
import LocalAPI

struct Groups: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "groups",
        abstract: "Show and change the groups of the gateway's directory.",
        discussion: """
            Asked in the name of the user who is logged in, or else of this board.

              $ latchkey groups create fitters alice bob
              $ latchkey groups remove fitters bob
            """,
        subcommands: [List.self, Show.self, Create.self, Add.self, Remove.self, Delete.self],
        defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List the groups, by pages.")
        @OptionGroup var directory: DirectoryOptions
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func run() async throws {
            try await directory.list("group", account, options) { groups in
                var table = Table("GROUP", "OWNER", "MEMBERS", "ID")
                for group in groups {
                    table.add(
                        group["displayName"]?.string ?? "?", group["owner"]?["value"]?.string ?? "",
                        "\(group["members"]?.array?.count ?? 0)", group["id"]?.string ?? "")
                }
                return table.text
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "show", abstract: "Show a group.")
        @Argument(help: "The group's name.") var group: String
        @OptionGroup var naming: NamingOptions
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let path = try await account.path("groups/\(group.segment)" + naming.query.text, by: options.client)
            options.show(try await options.client.get(path, timeout: .seconds(90)), Users.describe)
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "create", abstract: "Create a group.")
        @Argument(help: "The group's name.") var group: String
        @Argument(help: "The users in the group.") var users: [String] = []
        @Flag(name: .customLong("id"), help: "The users are given by their identifiers, not by their names.")
        var byID = false
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let answer = try await options.client.post(
                account.path("groups", by: options.client),
                [
                    "displayName": .string(group), "members": .array(users.map(JSON.string)),
                    "by": byID ? "id" : "name",
                ],
                timeout: .seconds(90))
            options.show(answer) { _ in "created the group \(group)" }
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "add", abstract: "Add a user to a group.")
        @Argument(help: "The group's name.") var group: String
        @Argument(help: "The user's name.") var user: String
        @OptionGroup var naming: NamingOptions
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let path = try await account.path("groups/\(group.segment)/members" + naming.query.text, by: options.client)
            let answer = try await options.client.post(path, ["user": .string(user)], timeout: .seconds(90))
            options.show(answer) { _ in "\(user) is a member of \(group)" }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a user from a group.")
        @Argument(help: "The group's name.") var group: String
        @Argument(help: "The user's name.") var user: String
        @OptionGroup var naming: NamingOptions
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let path = try await account.path(
                "groups/\(group.segment)/members/\(user.segment)" + naming.query.text, by: options.client)
            options.show(try await options.client.delete(path, timeout: .seconds(90))) { _ in
                "\(user) is not a member of \(group) any more"
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete", abstract: "Delete a group.", discussion: "Asks first.")
        @Argument(help: "The group's name.") var group: String
        @Flag(help: "Do not ask for confirmation.") var yes = false
        @OptionGroup var naming: NamingOptions
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func run() async throws {
            try Confirmation.ask("this deletes the group \(group) at the gateway", isGiven: yes)
            let path = try await account.path("groups/\(group.segment)" + naming.query.text, by: options.client)
            options.show(try await options.client.delete(path, timeout: .seconds(90))) { _ in
                "deleted the group \(group)"
            }
        }
    }
}
