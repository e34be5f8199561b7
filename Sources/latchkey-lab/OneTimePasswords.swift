import ArgumentParser
import Groundwork

struct OneTimePasswordsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "otp",
        abstract: "Show the one-time passwords that were sent, or where they are demanded.",
        discussion: """
            The lab does not deliver them: read them here in place of the mail and the telephone.

              $ latchkey-lab otp demand L1      # from now on at /lab/hello
              $ latchkey-lab otp                # what was sent
              $ latchkey-lab otp demand         # nowhere again
            """,
        subcommands: [List.self, Demand.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the passwords that were sent.")
        @OptionGroup var lab: AdminOptions

        func run() async throws {
            let table = Table("USER", "PASSWORD", "SENT BY", "TRIES LEFT", "BARRED")
            try await lab.showList("one_time_passwords", called: "one-time passwords", table) { table, sent in
                table.add(
                    sent["user"]?.string ?? "", sent["password"]?.string ?? "",
                    (sent["channels"]?.array ?? []).compactMap(\.string).joined(separator: ","),
                    sent["tries_left"]?.integer.map(String.init) ?? "",
                    sent["barred_until"]?.integer == nil ? "" : "yes")
            }
        }
    }

    struct Demand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set where they are demanded; nowhere if no endpoint is named.")
        @OptionGroup var lab: AdminOptions

        @Argument(help: "Such as L1; latchkey-lab fault names lists them.")
        var endpoints: [String] = []

        @Option(help: "EMAIL, SMS or QRCODE; may be repeated.")
        var channel: [String] = []

        @Option(help: "How long a password is valid, in seconds.")
        var life: Int?

        @Option(help: "How many wrong ones bar the user.")
        var tries: Int?

        @Option(help: "How long a user is barred, in seconds.")
        var suspension: Int?

        @Option(help: "How long one password serves all calls of its access token, in seconds; 0: one call.")
        var remembers: Int?

        func run() async throws {
            var input: [String: JSON] = ["endpoints": .array(endpoints.map(JSON.string))]
            if !channel.isEmpty { input["channels"] = .array(channel.map(JSON.string)) }
            for (name, value) in [
                ("life_seconds", life), ("tries", tries), ("suspension_seconds", suspension),
                ("remembers_seconds", remembers),
            ] {
                input[name] = value.map { .integer(Int64($0)) }
            }
            lab.show(try await lab.call("POST", "otp", .object(input))) { _ in
                endpoints.isEmpty ? "demanded nowhere" : "demanded at \(endpoints.joined(separator: ", "))"
            }
        }
    }
}
