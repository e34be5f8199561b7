import ArgumentParser
import Groundwork

struct CryptoKeys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Show and change keys that stay in the sealed store.",
        discussion: """
              $ latchkey crypto keys add photos
              $ latchkey crypto keys add orders --kind p-256 --in tpm
            """,
        subcommands: [List.self, Add.self, Remove.self], defaultSubcommand: List.self)

    struct List: RouteCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List the keys by name.")
        @OptionGroup var owner: OwnerOptions
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest { .get("crypto/keys", query: ["uid": owner.query]) }

        func text(of answer: JSON) -> String { answer.lines("keys", orElse: "no keys", CryptoKeys.describe) }
    }

    struct Add: RouteCommand {
        static let configuration = CommandConfiguration(commandName: "add", abstract: "Make a key.")
        @Argument(help: "1 to 64 lower-case letters, digits and hyphens.") var name: String
        @Option(help: "aes-256 encrypts; rsa-2048 and rsa-3072 sign and wrap; p-256 signs.") var kind = "aes-256"
        @Option(name: .customLong("in"), help: ArgumentHelp("software, tpm or pkcs11.", valueName: "place"))
        var keeper = "software"
        @Option(help: "Level of protection, such as WhenUnlocked; Always by default.") var level: String?
        @OptionGroup var owner: OwnerOptions
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest {
            .post(
                "crypto/keys",
                [
                    "name": .string(name), "kind": .string(kind), "keeper": .string(keeper),
                    "level": level.map(JSON.string), "uid": owner.json,
                ], timeout: .seconds(180))
        }

        func text(of answer: JSON) -> String { CryptoKeys.describe(answer) }
    }

    struct Remove: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Remove a key for good, with all that it encrypted.")
        @Argument(help: "Its name.") var name: String
        @Flag(help: "Do not ask for confirmation.") var yes = false
        @OptionGroup var owner: OwnerOptions
        @OptionGroup var options: ClientOptions

        func confirm() throws {
            try Confirmation.ask("what the key \(name) encrypted cannot be decrypted any more", isGiven: yes)
        }

        func request() -> RouteRequest { .delete("crypto/keys/\(name.segment)", query: ["uid": owner.query]) }

        func text(of answer: JSON) -> String { "removed the key \(answer["removed"]?.string ?? "")" }
    }

    static func describe(_ key: JSON) -> String {
        let keeper = key["keeper"]?.string.map { ", \($0)" } ?? ""
        return "\(key["name"]?.string ?? "?"), \(key["kind"]?.string ?? "?")\(keeper)"
    }
}
