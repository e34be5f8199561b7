import ArgumentParser
import Groundwork
import LocalAPI

struct Keys: AsyncParsableCommand {
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

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the keys by name, with their public parts.")
        @OptionGroup var options: ClientOptions

        func run() async throws {
            options.show(try await options.client.get("/v1/keys"), each: "keys", orElse: "no keys", Keys.describe)
        }
    }

    struct Add: AsyncParsableCommand {
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
            guard keyFile != nil || !passwordStdin else { throw ValidationError("--password-stdin goes with --pkcs12") }
        }

        func run() async throws {
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
            options.show(try await options.client.post("/v1/keys", .object(members)), Keys.describe)
        }

        private func password(of file: String) throws(InputError) -> String {
            if !passwordStdin, Terminal.inputIsTerminal { return try Input.withoutEcho("Password of \(file): ") }
            Input.expectSecret()
            return try Input.firstLine(of: Input.standardInput(limit: 4096))
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a key for good.")
        @Argument(help: "Its name.") var name: String
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let answer = try await options.client.delete("/v1/keys/\(PercentEncoding.encode(name))")
            options.show(answer) { "removed the key \($0["removed"]?.string ?? "")" }
        }
    }

    /// The name, and the public key in PEM (RFC 7468 section 13).
    private static func describe(_ key: JSON) -> String {
        var lines = ["\(key["name"]?.string ?? "?"), \(key["algorithm"]?.string ?? "?")", "-----BEGIN PUBLIC KEY-----"]
        var rest = (key["publicKey"]?.string ?? "")[...]
        while !rest.isEmpty {
            lines.append(String(rest.prefix(64)))
            rest = rest.dropFirst(64)
        }
        return (lines + ["-----END PUBLIC KEY-----"]).joined(separator: "\n")
    }
}
