import ArgumentParser
import Groundwork

extension CryptoCommand {
    struct SignText: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "sign", abstract: "Sign a text, and print the signature in base64.",
            discussion: """
                  $ latchkey crypto sign orders --in order.json > order.sig
                """)
        @Argument(help: "The tag of a key pair.") var tag: String
        @Option(help: "RS256, PS256 or ES256; RS256 or ES256 by default, as the key is.") var algorithm: String?
        @OptionGroup var text: TextOptions
        @OptionGroup var owner: OwnerOptions
        @OptionGroup var options: ClientOptions

        func request() throws -> RouteRequest {
            .post(
                "crypto/sign",
                try text.members().merging([
                    "key": .string(tag), "algorithm": algorithm.map(JSON.string), "uid": owner.json,
                ]) { $1 }, timeout: .seconds(180))
        }

        func text(of answer: JSON) -> String { answer["signature"]?.string ?? "" }
    }

    struct Check: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Compare a signature with a text.",
            discussion: "Ends with status 1 if it is another text's.")
        @Argument(help: "The tag of a key pair.") var tag: String
        @Argument(help: "A file with the signature in base64.") var signature: String
        @Option(help: "RS256, PS256 or ES256; RS256 or ES256 by default, as the key is.") var algorithm: String?
        @OptionGroup var text: TextOptions
        @OptionGroup var owner: OwnerOptions
        @OptionGroup var options: ClientOptions

        func run() async throws { try CryptoCommand.end(try await sendAndShow()) }

        func request() throws -> RouteRequest {
            let signature = try Input.firstLine(of: Input.file(signature, limit: 4096), from: signature)
            return .post(
                "crypto/check",
                try text.members().merging([
                    "key": .string(tag), "signature": .string(signature), "algorithm": algorithm.map(JSON.string),
                    "uid": owner.json,
                ]) { $1 })
        }

        func text(of answer: JSON) -> String { CryptoCommand.verdict(answer) }
    }

    struct Wrap: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "wrap", abstract: "Encrypt a short secret with the public half of an RSA key pair.")
        @Argument(help: "The tag of the key pair.") var tag: String
        @OptionGroup var text: TextOptions
        @OptionGroup var owner: OwnerOptions
        @OptionGroup var options: ClientOptions

        func request() throws -> RouteRequest {
            .post("crypto/wrap", try text.members().merging(["key": .string(tag), "uid": owner.json]) { $1 })
        }

        func text(of answer: JSON) -> String { answer["wrapped"]?.string ?? "" }
    }

    struct Unwrap: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unwrap", abstract: "Decrypt a short secret with the private half of an RSA key pair.")
        @Argument(help: "The tag of the key pair.") var tag: String
        @Flag(help: "It is in the old format, PKCS #1 v1.5.") var legacy = false
        @OptionGroup var text: TextOptions
        @OptionGroup var output: ValueOptions
        @OptionGroup var owner: OwnerOptions
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let wrapped = try Input.firstLine(of: text.bytes())
            let answer = try await options.send(
                .post(
                    "crypto/unwrap",
                    [
                        "key": .string(tag), "wrapped": .string(wrapped), "legacy": legacy ? true : nil,
                        "uid": owner.json,
                    ]))
            try output.show(answer, as: options)
        }
    }

    struct PublicHalf: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "public", abstract: "Print the public half of a key pair in PEM.")
        @Argument(help: "The tag of the key pair.") var tag: String
        @OptionGroup var owner: OwnerOptions
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest { .get("crypto/keys/\(tag.segment)", query: ["uid": owner.query]) }

        func text(of answer: JSON) -> String {
            answer["publicKey"]?.string.map(Keys.pem) ?? "\(tag) has no public half"
        }
    }
}
