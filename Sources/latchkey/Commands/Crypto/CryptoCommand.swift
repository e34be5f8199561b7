import ArgumentParser
import Groundwork

struct CryptoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "crypto",
        abstract: "Encrypt, sign and hash with keys that stay in the sealed store.",
        discussion: """
            A program has its own keys, by its user. Texts are read from standard input or a file. Digests, and \
            cipher texts with a key of one's own, are in the formats of Oracle's mobile SDK.

              $ latchkey crypto keys add photos
              $ latchkey crypto encrypt photos --in plan.txt --out plan.sealed
              $ latchkey crypto decrypt photos --in plan.sealed
            """,
        subcommands: [
            Hash.self, Verify.self, Encrypt.self, Decrypt.self, CryptoKeys.self, SignText.self, Check.self,
            Wrap.self, Unwrap.self, PublicHalf.self,
        ])

    struct Hash: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "hash", abstract: "Print the digest of a text, as Oracle's mobile SDK stores it.",
            discussion: """
                  $ printf %s mypassword | latchkey crypto hash --algorithm SaltedSHA-256 --salt-bits 24
                """)
        @Option(help: "SHA-1, SHA-224, SHA-256, SHA-384 or SHA-512, or with Salted before it.")
        var algorithm = "SaltedSHA-512"
        @Option(help: "The bits of a new salt, a multiple of 4; 64 by default where one is needed.")
        var saltBits: Int?
        @Option(help: ArgumentHelp("A file with the salt instead.", valueName: "file")) var salt: String?
        @Flag(help: "Leave out the name of the algorithm.") var noPrefix = false
        @Flag(help: "Leave out the salt.") var noSalt = false
        @OptionGroup var text: TextOptions
        @OptionGroup var owner: OwnerOptions
        @OptionGroup var options: ClientOptions

        func validate() throws {
            guard salt == nil || saltBits == nil else { throw ValidationError("give --salt or --salt-bits") }
        }

        func request() throws -> RouteRequest {
            let isSalted = algorithm.hasPrefix("Salted")
            let given = try salt.map { Base64.encode(try Input.file($0, limit: 4096)) }
            let bits = saltBits ?? (isSalted && given == nil ? 64 : nil)
            return .post(
                "crypto/hash",
                try text.members().merging([
                    "algorithm": .string(algorithm), "saltBits": bits.map { .integer(Int64($0)) },
                    "saltBytes": given.map(JSON.string), "prefix": noPrefix ? false : nil,
                    "appendSalt": noSalt ? false : nil, "uid": owner.json,
                ]) { $1 })
        }

        func text(of answer: JSON) -> String { answer["digest"]?.string ?? "" }
    }

    struct Verify: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify", abstract: "Compare a text with a stored digest.",
            discussion: "Ends with status 1 if the digest is another text's.")
        @Argument(help: "A file with the stored digest.") var digest: String
        @Flag(help: "Also verify MD5.") var legacy = false
        @OptionGroup var text: TextOptions
        @OptionGroup var owner: OwnerOptions
        @OptionGroup var options: ClientOptions

        func run() async throws { try CryptoCommand.end(try await sendAndShow()) }

        func request() throws -> RouteRequest {
            let stored = try Input.firstLine(of: Input.file(digest, limit: 4096), from: digest)
            return .post(
                "crypto/verify",
                try text.members().merging([
                    "digest": .string(stored), "legacy": legacy ? true : nil, "uid": owner.json,
                ]) { $1 })
        }

        func text(of answer: JSON) -> String { CryptoCommand.verdict(answer) }
    }

    static func verdict(_ answer: JSON) -> String { answer["valid"]?.bool == true ? "valid" : "not valid" }

    /// Ends the command with status 1 if the answer says so.
    static func end(_ answer: JSON) throws {
        guard answer["valid"]?.bool == true else { throw ExitCode(ExitStatus.failure.rawValue) }
    }
}

/// Where a text comes from.
struct TextOptions: ParsableArguments {
    @Option(
        name: .customLong("in"), help: ArgumentHelp("A file with it; standard input by default.", valueName: "file"))
    var input: String?

    func bytes() throws -> [UInt8] {
        Input.expectSecret()
        guard let input else { return try Input.typed("the text", limit: Input.payloadLimit) }
        return try Input.file(input, limit: Input.payloadLimit)
    }

    func members() throws -> [String: JSON?] {
        ["text": .string(Base64.encode(try bytes())), "encoding": "base64"]
    }
}

/// Whose keys and credentials are meant.
struct OwnerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Those of another user, by number; needs a grant.", valueName: "uid"))
    var uid: UInt32?

    var json: JSON? { uid.map { .integer(Int64($0)) } }
    var query: String? { uid.map(String.init) }
}
