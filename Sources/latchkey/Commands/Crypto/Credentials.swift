import ArgumentParser
import Groundwork

struct Credentials: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credentials",
        abstract: "Keep passwords and other secrets of programs in the sealed store.",
        discussion: """
            A program has its own credentials, by its user. One that is deleted leaves its key, which then is empty.

              $ latchkey credentials add mail --user alice
              $ latchkey credentials get mail
            """,
        subcommands: [List.self, Add.self, Update.self, Get.self, Delete.self, SetProperty.self, RemoveProperty.self],
        defaultSubcommand: List.self)

    struct List: RouteCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List the keys.")
        @OptionGroup var owner: OwnerOptions
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest { .get("credentials", query: ["uid": owner.query]) }

        func text(of answer: JSON) -> String {
            Table.text(of: answer["credentials"], ["KEY", "USER", "TENANT", ""]) { entry in
                let state = entry["locked"]?.bool == true ? "locked" : entry["empty"]?.bool == true ? "empty" : ""
                return [
                    entry["key"]?.string ?? "?", entry["user"]?.string ?? "", entry["tenant"]?.string ?? "", state,
                ]
            }
        }
    }

    /// What is stored.
    struct Content: ParsableArguments {
        @Argument(help: "The key.") var key: String
        @Option(help: "Name of the user.") var user: String?
        @Option(help: "Tenant of the user.") var tenant: String?
        @Option(help: "Level of protection, such as Always; WhenUnlockedThisDeviceOnly by default.")
        var level: String?
        @Option(
            name: .customLong("in"),
            help: ArgumentHelp("A file with a value of bytes; else text is asked for.", valueName: "file"))
        var input: String?
        @OptionGroup var owner: OwnerOptions

        func request(isNew: Bool) throws -> RouteRequest {
            Input.expectSecret()
            var members: [String: JSON?] = [
                "key": .string(key), "user": user.map(JSON.string), "tenant": tenant.map(JSON.string),
                "level": level.map(JSON.string), "uid": owner.json, "new": isNew ? true : nil,
            ]
            if let input {
                members["value"] = .string(Base64.encode(try Input.file(input, limit: 64 << 10)))
                members["encoding"] = "base64"
            } else {
                members["value"] = .string(try Credentials.secret("Value of \(Terminal.withoutControls(key)): "))
            }
            return .post("credentials", members)
        }
    }

    static func secret(_ prompt: String) throws(InputError) -> String {
        Terminal.inputIsTerminal ? try Input.withoutEcho(prompt) : try SecretAnswer.line()
    }

    struct Add: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Store a credential under a new key.",
            discussion: "In a pipe, the first line of standard input is the value.")
        @OptionGroup var content: Content
        @OptionGroup var options: ClientOptions

        func request() throws -> RouteRequest { try content.request(isNew: true) }
        func text(of answer: JSON) -> String { "stored \(answer["stored"]?.string ?? "")" }
    }

    struct Update: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "update", abstract: "Replace a credential; its properties stay.",
            discussion: "In a pipe, the first line of standard input is the value.")
        @OptionGroup var content: Content
        @OptionGroup var options: ClientOptions

        func request() throws -> RouteRequest { try content.request(isNew: false) }
        func text(of answer: JSON) -> String { "stored \(answer["stored"]?.string ?? "")" }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "get", abstract: "Write the value of a credential to standard output.",
            discussion: "With --json also its user, tenant and properties.")
        @Argument(help: "The key.") var key: String
        @OptionGroup var output: ValueOptions
        @OptionGroup var owner: OwnerOptions
        @OptionGroup var options: ClientOptions

        func run() async throws {
            Input.expectSecret()
            try output.show(
                try await options.send(.get("credentials/\(key.segment)", query: ["uid": owner.query])), as: options)
        }
    }

    struct Delete: RouteCommand {
        static let configuration = CommandConfiguration(commandName: "delete", abstract: "Empty a credential.")
        @Argument(help: "The key.") var key: String
        @Flag(help: "Remove its key, too.") var forget = false
        @OptionGroup var owner: OwnerOptions
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest {
            .delete("credentials/\(key.segment)", query: ["forget": forget ? "true" : nil, "uid": owner.query])
        }

        func text(of answer: JSON) -> String { "deleted \(answer["deleted"]?.string ?? "")" }
    }

    struct SetProperty: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "set-property", abstract: "Set a property of a credential.")
        @Argument(help: "The key.") var key: String
        @Argument(help: "The name of the property.") var name: String
        @Option(help: "Its label, for people.") var label: String?
        @Option(help: "Its description, for people.") var description: String?
        @OptionGroup var owner: OwnerOptions
        @OptionGroup var options: ClientOptions

        func request() throws -> RouteRequest {
            .post(
                "credentials/\(key.segment)/properties",
                [
                    "name": .string(name), "label": label.map(JSON.string),
                    "description": description.map(JSON.string), "uid": owner.json,
                    "value": .string(try Credentials.secret("Value of \(Terminal.withoutControls(name)): ")),
                ])
        }

        func text(of answer: JSON) -> String { "stored \(answer["stored"]?.string ?? "")" }
    }

    struct RemoveProperty: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove-property", abstract: "Remove a property of a credential.")
        @Argument(help: "The key.") var key: String
        @Argument(help: "The name of the property.") var name: String
        @OptionGroup var owner: OwnerOptions
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest {
            .delete("credentials/\(key.segment)/properties/\(name.segment)", query: ["uid": owner.query])
        }

        func text(of answer: JSON) -> String { "deleted \(answer["deleted"]?.string ?? "")" }
    }
}
