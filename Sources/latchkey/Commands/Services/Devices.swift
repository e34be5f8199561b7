import ArgumentParser
import Groundwork
import LocalAPI

struct Devices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List the user's devices that the gateway knows.",
        discussion: "Without a logged-in user, the devices that it lists for this board.")
    @OptionGroup var account: AccountOption
    @OptionGroup var options: ClientOptions

    func run() async throws {
        options.show(
            try await LongWork.say("asking the gateway") {
                try await options.client.get(account.path("devices", by: options.client), timeout: .seconds(90))
            }
        ) {
            answer in
            let devices = answer["devices"]?.array ?? []
            return devices.map { device in
                var fields = Fields()
                for (name, value) in (device.object ?? [:]).sorted(by: { $0.key < $1.key }) {
                    fields.add(name, Terminal.standardOutput.shown(value.string ?? value.text))
                }
                return fields.text
            }.joined(separator: "\n\n")
        }
    }
}

struct Metadata: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metadata",
        abstract: "Show and change the attributes that the gateway keeps for this device.",
        discussion: "  $ latchkey metadata set place 'hall 3'",
        subcommands: [List.self, Get.self, Set.self, Delete.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List the attributes.")
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func run() async throws {
            options.show(
                try await options.client.get(account.path("device/metadata", by: options.client), timeout: .seconds(90))
            ) {
                answer in
                var table = Table("NAME", "VALUE")
                for attribute in answer["metadata"]?.array ?? [] {
                    table.add(attribute["name"]?.string ?? "?", attribute["value"]?.string ?? "")
                }
                return table.text
            }
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "get",
            abstract: "Show one attribute.",
            discussion: "Ends with status 1 when the device has no attribute of this name.")
        @Argument(help: "Its name.") var name: String
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let path = try await account.path(
                "device/metadata/item" + QueryText(["name": name]).text, by: options.client)
            let answer = try await options.client.get(path, timeout: .seconds(90))
            let value = answer["value"]?.string
            if options.json || value != nil {
                options.show(answer) { _ in Terminal.standardOutput.shown(value ?? "") }
            }
            guard value != nil else { throw ExitCode(1) }
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Set one, new or in place of an earlier value.")
        @Argument(help: "Its name.") var name: String
        @Argument(help: "Its value.") var value: String
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let answer = try await options.client.post(
                account.path("device/metadata", by: options.client), ["name": .string(name), "value": .string(value)],
                timeout: .seconds(90))
            options.show(answer) { _ in "\(name) is \(value)" }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete one, or all.", discussion: "Asks before it deletes all.")
        @Argument(help: "Its name.") var name: String?
        @Flag(help: "All of them.") var all = false
        @Flag(help: "Do not ask for confirmation.") var yes = false
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func validate() throws {
            guard (name == nil) == all else { throw ValidationError("give a name, or --all") }
        }

        func run() async throws {
            if all { try Confirmation.ask("this deletes all attributes of the device", isGiven: yes) }
            let route = all ? "device/metadata" : "device/metadata/item" + QueryText(["name": name]).text
            options.show(
                try await options.client.delete(account.path(route, by: options.client), timeout: .seconds(90))
            ) {
                "deleted \($0["deleted"]?.string ?? "")"
            }
        }
    }
}
