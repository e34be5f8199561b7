import ArgumentParser
import Groundwork
import LocalAPI

struct Apps: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps",
        abstract: "List and open the enterprise applications of the gateway.",
        discussion: """
            A web application is loaded with the access token of the user who is logged in, if its address is at the \
            gateway; if it redirects to another host or asks for a login, that address is printed. Native applications \
            run on phones; a board can only show their addresses.
            """,
        subcommands: [List.self, Icon.self, Open.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List the applications.")
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func run() async throws {
            options.show(
                try await LongWork.say("asking the gateway") {
                    try await options.client.get(account.path("apps", by: options.client), timeout: .seconds(90))
                }
            ) { answer in
                var table = Table("ID", "NAME", "KIND", "ADDRESS")
                for app in answer["apps"]?.array ?? [] {
                    let web = app["authURL"]?.string
                    table.add(
                        app["id"]?.string ?? "?", app["name"]?.string ?? "", web == nil ? "native" : "web",
                        web ?? app["nativeURL"]?.string ?? "")
                }
                return table.text
            }
        }
    }

    struct Icon: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "icon", abstract: "Write the icon of an application to a file.")
        @Argument(help: "The application's identifier.") var app: String
        @Argument(help: "The file, or - for standard output.") var file: String
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let icon = try await options.client.get(
                account.path("apps/\(app.segment)/icon", by: options.client), timeout: .seconds(90))
            let bytes = icon["bytes"]?.string.flatMap { Base64.decode($0) } ?? []
            if file == "-", !options.json { return Terminal.bytes(bytes) }
            if file != "-" { try Output.file(file, bytes) }
            options.show(icon) { "\($0["mediaType"]?.string ?? "?") written to \(file)" }
        }
    }

    struct Open: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "open",
            abstract: "Write the page of a web application to standard output.")
        @Argument(help: "The application's identifier.") var app: String
        @OptionGroup var account: AccountOption
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let path = try await account.path("apps/\(app.segment)/open", by: options.client)
            let page = try await options.client.post(path, [:], timeout: .seconds(90))
            guard !options.json else { return options.show(page) { _ in "" } }
            if let location = page["location"]?.string {
                return Terminal.line(Terminal.standardOutput.shown(location))
            }
            Terminal.content(page["bytes"]?.string.flatMap { Base64.decode($0) } ?? [])
        }
    }
}
