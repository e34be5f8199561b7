import ArgumentParser
import Groundwork

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

    struct List: RouteCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List the applications.")
        @OptionGroup var options: AccountOptions

        func request() -> RouteRequest { .get("apps", timeout: .seconds(90), saying: "asking the gateway") }

        func text(of answer: JSON) -> String {
            Table.text(of: answer["apps"], ["ID", "NAME", "KIND", "ADDRESS"]) { app in
                let web = app["authURL"]?.string
                return [
                    app["id"]?.string ?? "?", app["name"]?.string ?? "", web == nil ? "native" : "web",
                    web ?? app["nativeURL"]?.string ?? "",
                ]
            }
        }
    }

    struct Icon: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "icon", abstract: "Write the icon of an application to a file.")
        @Argument(help: "The application's identifier.") var app: String
        @Argument(help: "The file, or - for standard output.") var file: String
        @OptionGroup var options: AccountOptions

        func run() async throws {
            let icon = try await options.send(.get("apps/\(app.segment)/icon", timeout: .seconds(90)))
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
        @OptionGroup var options: AccountOptions

        func run() async throws {
            let page = try await options.send(.post("apps/\(app.segment)/open", timeout: .seconds(90)))
            guard !options.json else { return Terminal.json(page) }
            if let location = page["location"]?.string {
                return Terminal.line(Terminal.standardOutput.shown(location))
            }
            Terminal.content(page["bytes"]?.string.flatMap { Base64.decode($0) } ?? [])
        }
    }
}
