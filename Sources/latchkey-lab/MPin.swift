import ArgumentParser
import Foundation
import GatewayLab
import Groundwork

struct MPinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mpin",
        abstract: "Show the users of the M-Pin back end, and play its administrator, its mail and its browsers.",
        discussion: """
            The back end is at the address that run prints, with its D-TAs; its endpoints begin with M in \
            latchkey-lab fault names.

              $ latchkey-lab mpin                                  # its users, with the codes of their mails
              $ latchkey-lab mpin activate alice@example.org --code 123456
              $ latchkey-lab mpin change alice@example.org revoke
              $ latchkey-lab mpin set use_permits=false limit=5    # without settings: show them
              $ latchkey-lab mpin browser                          # a new access number
            """,
        subcommands: [List.self, Activate.self, Code.self, Change.self, Settings.self, Browser.self],
        defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the users.")
        @OptionGroup var lab: AdminOptions

        func run() async throws {
            let users = try await lab.call("GET", "state")["mpin"]?["users"] ?? []
            lab.show(users) { users in
                var table = Table("USER", "STATUS", "FAILED", "CODE", "BARRED")
                for user in users.array ?? [] {
                    let code = user["activation_code"]?.string ?? user["one_time_password"]?.string
                    let barred = ["blocked", "revoked", "expired"].filter { user[$0] == true }
                    table.add(
                        user["user"]?.string ?? "", user["status"]?.string ?? "",
                        user["failures"]?.integer.map(String.init) ?? "", code ?? "", barred.joined(separator: ","))
                }
                return users.array?.isEmpty == false ? table.text : "no M-Pin users"
            }
        }
    }

    struct Activate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Verify a user, as by the link of the mail.")
        @OptionGroup var lab: AdminOptions
        @Argument(help: "User id or M-Pin ID.") var user: String
        @Option(help: "The code of the mail, which is checked if given.") var code: String?

        func run() async throws {
            let input = code.map { ["code": .string($0)] as JSON } ?? [:]
            lab.show(try await lab.call("POST", MPinCommand.path(user, "activate"), input)) { _ in "activated" }
        }
    }

    struct Code: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a code with which a new user is active at once.")
        @OptionGroup var lab: AdminOptions
        @Argument(help: "The user id.") var user: String

        func run() async throws {
            let answer = try await lab.call("POST", "mpin/codes", ["user": .string(user)])
            lab.show(answer) { $0["code"]?.string ?? "" }
        }
    }

    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Block, unblock, revoke, restore, expire or remove a user.")
        @OptionGroup var lab: AdminOptions
        @Argument(help: "User id or M-Pin ID.") var user: String
        @Argument(help: "block, unblock, revoke, restore, expire or remove.") var action: MPinAction

        func run() async throws {
            let answer = try await lab.call("POST", MPinCommand.path(user, action.rawValue), [:])
            lab.show(answer) { _ in "\(user): \(action.rawValue)" }
        }
    }

    struct Settings: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Change how the back end behaves until the lab ends; or show it.")
        @OptionGroup var lab: AdminOptions
        @Argument(help: "Such as use_permits=false; a value is JSON, or a text.") var settings: [String] = []

        func run() async throws {
            var input: [String: JSON] = [:]
            for setting in settings {
                let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2 else { throw ValidationError("\(setting) is not a name and a value.") }
                input[String(parts[0])] = (try? JSON(parsing: Array(parts[1].utf8))) ?? .string(String(parts[1]))
            }
            let answer = try await lab.call("POST", "mpin/settings", .object(input))
            lab.show(answer) { answer in
                var table = Table("SETTING", "VALUE")
                for (name, value) in (answer.object ?? [:]).sorted(by: { $0.key < $1.key }) {
                    table.add(name, value.text)
                }
                return table.text
            }
        }
    }

    struct Browser: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Play a browser that wants to be logged in: print its access number.")
        @OptionGroup var lab: AdminOptions
        @Flag(help: "Print the content of a QR code instead.") var qr = false

        func run() async throws {
            lab.show(try await lab.call("POST", "mpin/browsers", ["qr": .bool(qr)])) { answer in
                answer["qrUrl"]?.string ?? answer["accessNumber"]?.string ?? ""
            }
        }
    }

    private static func path(_ user: String, _ action: String) -> String {
        let name = user.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? user
        return "mpin/users/\(name)/\(action)"
    }
}

extension MPinAction: ExpressibleByArgument {}
