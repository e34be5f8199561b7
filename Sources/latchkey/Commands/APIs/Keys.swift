import ArgumentParser
import Groundwork

struct Keys: AsyncParsableCommand, Listed {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Show and change the keys that bodies of calls may be signed with.",
        discussion: """
            These are keys besides the device's own, which the gateway knows by its certificate. They are kept in the \
            sealed store, and no command prints them.

              $ latchkey keys add partner
              $ latchkey call /orders -d '{"n":1}' --sign --sign-key partner
            """,
        subcommands: [List.self, Add.self, Remove.self], defaultSubcommand: List.self)

    static let list = ListRoute("List the keys by name, with their public parts.", "keys", orElse: "no keys")

    struct Add: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Store a private key, or make one, and print its public key.",
            discussion: """
                Without a file an RSA key of 2048 bits is made. The password of a PKCS#12 file (.p12, .pfx) is asked \
                for; where standard input is not a terminal, or with '--password-stdin', its first line is the password.

                  $ latchkey keys add partner --pkcs12 partner.p12
                """)
        @Argument(help: "1 to 64 lower-case letters, digits and hyphens.") var name: String
        @Argument(help: "A file with the key in PEM (PKCS#8, not encrypted); '-' for standard input.") var file: String?
        @Option(name: .customLong("pkcs12"), help: ArgumentHelp("A PKCS#12 file with the key.", valueName: "file"))
        var keyFile: String?
        @Flag(help: "Read the password of the PKCS#12 file from standard input.") var passwordStdin = false
        @OptionGroup var options: ClientOptions

        private static let limit = 65_536

        func validate() throws {
            guard file == nil || keyFile == nil else { throw ValidationError("give one file, in PEM or as --pkcs12") }
            guard keyFile != nil || !passwordStdin else { throw ValidationError("--password-stdin requires --pkcs12") }
        }

        func request() throws -> RouteRequest {
            var members: [String: JSON] = ["name": .string(name)]
            if let file {
                let bytes =
                    file == "-" ? try Input.standardInput(limit: Self.limit) : try Input.file(file, limit: Self.limit)
                members["pem"] = .string(ReceivedText.decodeWherePossible(bytes))
            }
            if let keyFile {
                members["pkcs12"] = .string(Base64.encode(try Input.file(keyFile, limit: Self.limit)))
                members["password"] = .string(try password(of: keyFile))
            }
            return .post("keys", members)
        }

        func text(of answer: JSON) -> String { Keys.describe(answer) }

        private func password(of file: String) throws(InputError) -> String {
            if !passwordStdin, Terminal.inputIsTerminal { return try Input.withoutEcho("Password of \(file): ") }
            return try SecretAnswer.line()
        }
    }

    struct Remove: RouteCommand {
        static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a key for good.")
        @Argument(help: "Its name.") var name: String
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest { .delete("keys/\(name.segment)") }

        func text(of answer: JSON) -> String { "removed the key \(answer["removed"]?.string ?? "")" }
    }

    /// The name, and the public key.
    static func describe(_ key: JSON) -> String {
        "\(key["name"]?.string ?? "?"), \(key["algorithm"]?.string ?? "?")\n" + pem(key["publicKey"]?.string ?? "")
    }

    /// A public key in PEM (RFC 7468 section 13).
    static func pem(_ base64: String) -> String {
        var (lines, rest) = (["-----BEGIN PUBLIC KEY-----"], base64[...])
        while !rest.isEmpty {
            lines.append(String(rest.prefix(64)))
            rest = rest.dropFirst(64)
        }
        return (lines + ["-----END PUBLIC KEY-----"]).joined(separator: "\n")
    }
}
