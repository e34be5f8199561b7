import AgentCore
import ArgumentParser
import FoundationEssentials
import Groundwork
import LocalAPI

/// The check of the store, and copies of it.
extension VaultCommand {
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify", abstract: "Check everything in the store, or a copy of its file.",
            discussion: """
                Prints a line for each fault. A copy is checked without the agent and without a key: its structure, \
                and what has a digest, but not what is sealed. Exit status 0 when nothing is wrong; 78 when something is.
                """)
        @Argument(help: "A copy of vault.db; without it, the agent checks its own.") var file: String?
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let answer =
                if let file { try VaultCopy.verify(file) } else {
                    try await options.send(.post("vault/verify", timeout: .seconds(600), saying: "checking the store"))
                }
            options.show(answer, text)
            guard answer["faults"]?.array?.isEmpty == true else {
                throw ExitCode(ExitStatus.configuration.rawValue)
            }
        }

        private func text(of answer: JSON) -> String {
            let out = Terminal.standardOutput
            var lines = (answer["faults"]?.array ?? []).map { fault in
                out.red(out.shown("\(fault["fault"]?.string ?? "?"): \(fault["name"]?.string ?? "?")"))
            }
            if answer["cutShort"]?.bool == true { lines.append("there may be more") }
            let what = ["record", "page", "slot", "key"]
                .map { Amount.of(answer[$0 + "s"]?.integer ?? 0, $0) }.joined(separator: ", ")
            lines.append("checked \(what)")
            if answer["contentsChecked"]?.bool == false { lines.append("no record was opened: that needs the key") }
            return lines.joined(separator: "\n")
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export", abstract: "Copy the records to a file that a passphrase opens.",
            discussion: """
                The passphrase is asked for twice, or is the first line of standard input; it has at least 16 bytes. \
                The identity of the board stays here: private keys, registrations and what needs them. Keys in \
                hardware always do.

                With --with-identity it goes along, if the setting vault.export allows that. Two boards with one \
                identity end each other's connections: use it to move a board, and stop the old one first.
                """)
        @Argument(help: "The new file.") var file: String
        @Flag(help: "With private keys and registrations, too.") var withIdentity = false
        @OptionGroup var options: ClientOptions

        func run() async throws {
            try NewFile.check(file)
            let passphrase = try VaultCommand.passphrase(repeated: true)
            let answer = try await ProgressLine.show("exporting") { try await write(passphrase) }
            options.show(answer, text)
        }

        private func write(_ passphrase: [UInt8]) async throws -> JSON {
            let records = options.client.records(
                "/v1/vault/export",
                posting: ["passphrase": .string(Base64.encode(passphrase)), "withIdentity": .bool(withIdentity)],
                as: .frames)
            try await records.open()
            var file = try NewFile(file)
            var end: JSON?
            while let batch = try await records.next() {
                for bytes in batch {
                    switch try LocalRecord(bytes, in: .frames) {
                    case .message(let piece): try file.write(piece)
                    case .event(let event) where event.name == "end": end = event.data
                    case .event: break
                    }
                }
            }
            guard let end else { throw LocalAPIError.noAnswer(reason: "it ended in the middle") }
            try file.finish()
            return end
        }

        private func text(of answer: JSON) -> String {
            let out = Terminal.standardOutput
            let left = answer["leftOut"]?.array?.count ?? 0
            let damaged = (answer["damaged"]?.array ?? []).compactMap(\.string).map {
                "\n" + out.yellow(out.shown("\($0) is damaged, and is not in the export"))
            }
            return "exported \(Amount.of(answer["records"]?.integer ?? 0, "record"))"
                + (left > 0 ? "; \(left) stay on this board" : "") + damaged.joined()
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore", abstract: "Take over the records of an export.",
            discussion: """
                The board must have no account and no registration. The passphrase is asked for, or is the first line \
                of standard input. Afterwards the agent ends, and systemd starts it again with what was restored.
                """)
        @Argument(help: "A file that latchkey vault export made.") var file: String
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let source = try BodySource(file: file)
            guard source.length > 0 else { throw InputError.unreadable(name: file, reason: "it is empty") }
            let passphrase = try VaultCommand.passphrase(repeated: false)
            let answer = try await ProgressLine.show("restoring") { try await restore(source, passphrase) }
            options.show(answer, text)
        }

        private func restore(_ source: BodySource, _ passphrase: [UInt8]) async throws -> JSON {
            let client = options.client
            let events = client.events(
                "/v1/vault/restore",
                posting: [
                    "passphrase": .string(Base64.encode(passphrase)), "bytes": .integer(Int64(source.length)),
                    "name": .string(file),
                ])
            for try await event in events {
                if event.name == "end" { return event.data }
                guard event.name == "upload" else { continue }
                let path = "/v1/vault/restore/\(event.data["id"]?.string ?? "")"
                try await source.forEachPiece { piece in
                    try await client.post(path, text: piece, timeout: .seconds(600))["taken"]?.bool == true
                }
            }
            throw LocalAPIError.noAnswer(reason: "it ended in the middle")
        }

        private func text(of answer: JSON) -> String {
            "restored \(Amount.of(answer["records"]?.integer ?? 0, "record")), "
                + "\(answer["keys"]?.integer ?? 0) of them private keys; the agent starts again"
        }
    }

    /// The passphrase of an export. It is never an argument, which every user of this machine could read.
    ///
    /// - Parameter repeated: whether a person enters it twice, as nothing else shows a mistake.
    private static func passphrase(repeated: Bool) throws -> [UInt8] {
        Input.expectSecret()
        guard Terminal.inputIsTerminal else { return Array(try SecretAnswer.line().utf8) }
        let passphrase = try Input.withoutEcho("Passphrase: ")
        if repeated, try Input.withoutEcho("Passphrase again: ") != passphrase {
            throw InputError.unreadable(name: "the passphrase", reason: "the second entry differs from the first")
        }
        return Array(passphrase.utf8)
    }
}
