import ArgumentParser
import Groundwork
import LocalAPI

struct PasscodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passcode", abstract: "Set, change or switch off the store's passcode.",
        subcommands: [Set.self, Off.self, Policy.self])

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Set the passcode, or change it.",
            discussion: """
                The old passcode is asked for unless it is unlocked, and the new one twice. Where standard input is \
                not a terminal, or with '--passcode-stdin', its lines are the old passcode, if it is needed, and the \
                new one.

                What persons have here is not readable without it from then on; no one can restore a passcode that is \
                forgotten: 'latchkey vault forgotten'.
                """)
        @Flag(help: "Read the passcodes from standard input.") var passcodeStdin = false
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let answer: JSON
            if !passcodeStdin, Terminal.inputIsTerminal {
                answer = try await PromptedLogin(
                    client: options.client, path: "/v1/vault/passcode/prompted", body: [:], end: "changed"
                ).run()
            } else {
                answer = try await options.client.post(
                    "/v1/vault/passcode", .object(try Self.given()), timeout: .seconds(180))
            }
            options.show(answer) { _ in "the passcode is set; what the board has of persons is behind it" }
        }

        private static func given() throws -> [String: JSON] {
            let lines = try SecretAnswer.twoLines()
            var body: [String: JSON] = ["passcode": .string(lines.last ?? "")]
            if lines.count == 2 { body["old"] = .string(lines[0]) }
            return body
        }
    }

    struct Off: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "off", abstract: "Switch the passcode off, once it is unlocked.",
            discussion: "What is behind it stays encrypted, and opens with the store.")
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest { .delete("vault/passcode") }
        func text(of answer: JSON) -> String { "the passcode is switched off" }
    }

    struct Policy: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "policy", abstract: "Show the rules for the passcode, or change some.",
            discussion: """
                Rules that the settings have in the table [passcode] are changed there.

                  $ latchkey vault passcode policy retry_limit=10 min_length=6
                """)
        @Argument(help: ArgumentHelp("Rules that change, such as digits=true.", valueName: "rule=value")) var rules:
            [String] = []
        @OptionGroup var options: ClientOptions

        func request() throws -> RouteRequest {
            rules.isEmpty ? .get("vault") : .post("vault/passcode/policy", try members())
        }

        private func members() throws -> [String: JSON] {
            var members: [String: JSON] = [:]
            for rule in rules {
                let parts = rule.split(separator: "=", maxSplits: 1).map(String.init)
                guard parts.count == 2 else {
                    throw ValidationError("write each rule as rule=value, such as digits=true")
                }
                switch parts[1] {
                case "true": members[parts[0]] = true
                case "false": members[parts[0]] = false
                default:
                    guard let number = Int64(parts[1]) else {
                        throw ValidationError("the value of \(parts[0]) is true, false or a number")
                    }
                    members[parts[0]] = .integer(number)
                }
            }
            return members
        }

        func text(of answer: JSON) -> String {
            var fields = Fields()
            for (name, value) in (answer["policy"]?.object ?? [:]).sorted(by: { $0.key < $1.key }) {
                fields.add(name, value.text)
            }
            return fields.text
        }
    }
}
