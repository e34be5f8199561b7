import ArgumentParser
import Groundwork

/// A key of the sealed store, or one of the user's own with the format of Oracle's mobile SDK.
struct CipherOptions: ParsableArguments {
    @Argument(help: "A key of the sealed store (latchkey crypto keys).") var key: String?
    @Option(help: "Without a key: AES, or as in AES/ECB/NoPadding; a key of one's own is asked for.")
    var algorithm: String?
    @Option(help: ArgumentHelp("A file with that key's bytes, such as /dev/fd/3.", valueName: "file"))
    var secret: String?
    @Option(help: ArgumentHelp("The initialization vector, in hexadecimal digits.", valueName: "digits"))
    var vector: String?
    @Flag(help: "Also use what is weak, if legacy in [crypto] of the settings is true.") var legacy = false
    @OptionGroup var owner: OwnerOptions

    func validate() throws {
        guard (key == nil) != (algorithm == nil && secret == nil) else {
            throw ValidationError("give a key, or --algorithm")
        }
        guard vector == nil || vector.flatMap(Hex.decode) != nil else {
            throw ValidationError("--vector is not hexadecimal digits")
        }
    }

    func members() throws -> [String: JSON?] {
        var members: [String: JSON?] = ["uid": owner.json]
        guard key == nil else {
            members["key"] = key.map(JSON.string)
            return members
        }
        members["algorithm"] = algorithm.map(JSON.string)
        members["secret"] = .string(Base64.encode(try secretKey()))
        members["vector"] = vector.flatMap(Hex.decode).map { .string(Base64.encode($0)) }
        members["legacy"] = legacy ? true : nil
        return members
    }

    private func secretKey() throws -> [UInt8] {
        Input.expectSecret()
        if let secret { return try Input.file(secret, limit: 64) }
        guard let key = Hex.decode(try Input.withoutEcho("Key, in hexadecimal digits: ")) else {
            throw ValidationError("the key is not hexadecimal digits")
        }
        return key
    }
}

extension CryptoCommand {
    struct Encrypt: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "encrypt", abstract: "Encrypt a text.",
            discussion: """
                With a key of the sealed store, only the same user's key of this name decrypts it.

                  $ latchkey crypto encrypt photos --in plan.txt --out plan.sealed
                """)
        @OptionGroup var cipher: CipherOptions
        @OptionGroup var text: TextOptions
        @Option(name: .customLong("out"), help: ArgumentHelp("Write it to a file.", valueName: "file"))
        var output: String?
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let members = try text.members().merging(try cipher.members()) { $1 }
            let answer = try await options.send(.post("crypto/encrypt", members))
            if let output { try Output.file(output, Array((answer["ciphertext"]?.string ?? "").utf8)) }
            if options.json { return Terminal.json(answer) }
            if output == nil { Terminal.line(answer["ciphertext"]?.string ?? "") }
            // The text cannot be decrypted without it.
            guard cipher.vector == nil, let vector = answer["vector"]?.string.flatMap({ Base64.decode($0) }) else {
                return
            }
            Terminal.error("vector: \(Hex.encode(vector))")
        }
    }

    struct Decrypt: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "decrypt", abstract: "Decrypt a text.",
            discussion: """
                  $ latchkey crypto decrypt photos --in plan.sealed
                """)
        @OptionGroup var cipher: CipherOptions
        @OptionGroup var text: TextOptions
        @OptionGroup var output: ValueOptions
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let sealed = try Input.firstLine(of: text.bytes())
            let members = try cipher.members().merging(["ciphertext": .string(sealed)]) { $1 }
            try output.show(try await options.send(.post("crypto/decrypt", members)), as: options)
        }
    }
}

/// Where a secret value goes.
struct ValueOptions: ParsableArguments {
    @Option(name: .customLong("out"), help: ArgumentHelp("Write it to a file.", valueName: "file")) var output: String?

    /// - Parameter answer: with the member `value`, in base64.
    func show(_ answer: JSON, as options: ClientOptions) throws {
        let value = answer["value"]?.string.flatMap { Base64.decode($0) } ?? []
        if let output { return try Output.file(output, value) }
        guard !options.json else { return Terminal.json(answer) }
        Terminal.content(value)
        if Terminal.standardOutput.isTerminal { Terminal.line() }
    }
}
