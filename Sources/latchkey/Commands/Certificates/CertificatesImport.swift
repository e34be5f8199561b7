import ArgumentParser
import Groundwork
import LocalAPI

extension CertificatesCommand {
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import", abstract: "Store the certificate of a file with its private key.",
            discussion: """
                The file is PKCS#12 (.p12, .pfx), or PEM with the key in PKCS#8. Its password is asked for, up to \
                three times; with --password-stdin, it is the first line of standard input. Several certificates in \
                one file are all imported, or none.

                The file is then overwritten and removed, unless --keep is given.

                  $ latchkey certificates import partner.p12 --host api.partner.example
                """)
        @Argument(help: "The file; '-' for standard input, without a password.") var file: String
        @Option(help: "Its name on this board; from the file by default.") var name: String?
        @Option(
            name: .customLong("host"),
            help: ArgumentHelp("Show it to this host; may be repeated.", valueName: "host[:port]"))
        var hosts: [String] = []
        @Flag(help: "Leave the file where it is.") var keep = false
        @Flag(help: "Read the password of the file from standard input.") var passwordStdin = false
        @OptionGroup var options: ClientOptions

        private static let tries = 3

        func validate() throws {
            guard file != "-" || !passwordStdin else { throw ValidationError("--password-stdin requires a file") }
        }

        func run() async throws {
            Input.expectSecret()
            let limit = Input.payloadLimit
            guard file != "-", !keep else {
                let bytes = try file == "-" ? Input.standardInput(limit: limit) : Input.file(file, limit: limit)
                return show(try await imported(Base64.encode(bytes)))
            }
            let used = try UsedFile(file)
            show(try await imported(Base64.encode(try Input.file(file, limit: limit))))
            try used.erase()
        }

        private func show(_ answer: JSON) {
            options.show(answer) {
                $0.lines("certificates", orElse: "nothing was imported", CertificatesCommand.fields)
            }
        }

        private func imported(_ file: String) async throws -> JSON {
            if passwordStdin { return try await post(file, try SecretAnswer.line()) }
            var left = self.file != "-" && Terminal.inputIsTerminal ? Self.tries : 0
            var password: String?
            while true {
                do {
                    return try await post(file, password)
                } catch LocalAPIError.remote(_, let explanation)
                    where explanation.code == Self.wrongPassword && left > 0
                {
                    if password != nil { Terminal.error("latchkey: \(explanation.message)") }
                    left -= 1
                    password = try Input.withoutEcho("Password of \(self.file): ")
                }
            }
        }

        /// Also that of a file which has a password when none is given.
        private static let wrongPassword = "cryptography.wrong-password"

        private func post(_ file: String, _ password: String?) async throws -> JSON {
            try await options.send(
                .post(
                    "certificates",
                    [
                        "file": .string(file), "password": password.map(JSON.string), "name": name.map(JSON.string),
                        "hosts": .array(hosts.map(JSON.string)),
                    ], timeout: .seconds(180), saying: "reading the file"))
        }
    }

    struct Request: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "request", abstract: "Make a key, and print a request for a certificate of it.",
            discussion: """
                The request (PKCS#10) goes to an authority; 'latchkey certificates install' stores \
                the answer. The key leaves neither the sealed store nor the hardware.

                  $ latchkey certificates request partner --key tpm > partner.csr
                  $ latchkey certificates install partner partner.pem
                """)
        @Argument(help: "1 to 47 lower-case letters, digits and hyphens.") var name: String
        @Option(help: ArgumentHelp("Where the key is: software (by default), tpm or pkcs11.", valueName: "place"))
        var key: String?
        @Option(help: ArgumentHelp("Kind of the key: rsa (by default) or p256.", valueName: "kind"))
        var algorithm: String?
        @Option(help: ArgumentHelp("Whom it is for; the board's name by default.", valueName: "name"))
        var commonName: String?
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest {
            .post(
                "certificates/\(name.segment)/request",
                [
                    "key": key.map(JSON.string), "algorithm": algorithm.map(JSON.string),
                    "commonName": commonName.map(JSON.string),
                ], timeout: .seconds(180), saying: "making a key")
        }

        func text(of answer: JSON) -> String { (answer["request"]?.string ?? "").trimmed }
    }

    struct Install: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "install", abstract: "Store the certificate that was issued for a requested key.",
            discussion: "It replaces the one that the key has, such as one that ends soon.")
        @Argument(help: "The name that it was requested by.") var name: String
        @Argument(help: "The certificate and those of its authorities, in PEM; '-' for standard input.")
        var file: String
        @OptionGroup var options: ClientOptions

        func request() throws -> RouteRequest {
            let limit = Input.payloadLimit
            let bytes = try file == "-" ? Input.standardInput(limit: limit) : Input.file(file, limit: limit)
            return .post(
                "certificates/\(name.segment)/install",
                ["certificates": .string(ReceivedText.decodeWherePossible(bytes))])
        }

        func text(of answer: JSON) -> String { CertificatesCommand.fields(of: answer) }
    }
}
