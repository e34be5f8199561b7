import ArgumentParser
import Groundwork

struct Devices: RouteCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List the user's devices that the gateway knows.",
        discussion: "Without a logged-in user, the devices that it lists for this board.")
    @OptionGroup var options: AccountOptions

    func request() -> RouteRequest { .get("devices", timeout: .seconds(90), saying: "asking the gateway") }

    func text(of answer: JSON) -> String {
        (answer["devices"]?.array ?? []).map { device in
            var fields = Fields()
            for (name, value) in (device.object ?? [:]).sorted(by: { $0.key < $1.key }) {
                fields.add(name, Terminal.standardOutput.shown(value.string ?? value.text))
            }
            return fields.text
        }.joined(separator: "\n\n")
    }
}

struct Metadata: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metadata",
        abstract: "Show and change the attributes that the gateway keeps for this device.",
        discussion: "  $ latchkey metadata set place 'hall 3'",
        subcommands: [List.self, Get.self, Set.self, Delete.self], defaultSubcommand: List.self)

    struct List: RouteCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List the attributes.")
        @OptionGroup var options: AccountOptions

        func request() -> RouteRequest { .get("device/metadata", timeout: .seconds(90)) }

        func text(of answer: JSON) -> String {
            Table.text(of: answer["metadata"], ["NAME", "VALUE"]) { attribute in
                [attribute["name"]?.string ?? "?", attribute["value"]?.string ?? ""]
            }
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "get",
            abstract: "Show one attribute.",
            discussion: "Ends with status 1 when the device has no attribute of this name.")
        @Argument(help: "Its name.") var name: String
        @OptionGroup var options: AccountOptions

        func run() async throws {
            let answer = try await options.send(
                .get("device/metadata/item", query: ["name": name], timeout: .seconds(90)))
            let value = answer["value"]?.string
            if options.json || value != nil {
                options.show(answer) { _ in Terminal.standardOutput.shown(value ?? "") }
            }
            guard value != nil else { throw ExitCode(1) }
        }
    }

    struct Set: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Set one, or replace its value.")
        @Argument(help: "Its name.") var name: String
        @Argument(help: "Its value.") var value: String
        @OptionGroup var options: AccountOptions

        func request() -> RouteRequest {
            .post("device/metadata", ["name": .string(name), "value": .string(value)], timeout: .seconds(90))
        }

        func text(of answer: JSON) -> String { "\(name) is \(value)" }
    }

    struct Delete: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete one, or all.", discussion: "Asks before it deletes all.")
        @Argument(help: "Its name.") var name: String?
        @Flag(help: "All of them.") var all = false
        @Flag(help: "Do not ask for confirmation.") var yes = false
        @OptionGroup var options: AccountOptions

        func validate() throws {
            guard (name == nil) == all else { throw ValidationError("give a name, or --all") }
        }

        func confirm() throws {
            if all { try Confirmation.ask("this deletes all attributes of the device", isGiven: yes) }
        }

        func request() -> RouteRequest {
            all
                ? .delete("device/metadata", timeout: .seconds(90))
                : .delete("device/metadata/item", query: ["name": name], timeout: .seconds(90))
        }

        func text(of answer: JSON) -> String { "deleted \(answer["deleted"]?.string ?? "")" }
    }
}
