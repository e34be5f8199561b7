import ArgumentParser
import FoundationEssentials
import Groundwork

struct VaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vault", abstract: "Check, copy, lock and open the sealed store.",
        discussion: """
            The store opens with any of its slots; each has its own key. To replace a key while the old \
            one still works, add a slot, have the agent open the store by it, and remove the old slot. The board stays \
            enrolled.

            What the board has of persons may need a passcode beside that: 'latchkey vault passcode set'. The board's \
            own work never does.
            """,
        subcommands: [
            VaultStatus.self, VaultLock.self, VaultUnlock.self, PasscodeCommand.self, VaultForgotten.self, Slots.self,
            Add.self, Test.self, Rewrap.self, Remove.self, Rekey.self, Verify.self, Export.self,
            Restore.self, AcceptRollback.self,
        ])

    struct Slots: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "slots", abstract: "List the slots, and which one opened the store.")
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest { .get("vault/slots") }

        func text(of answer: JSON) -> String {
            var fields = Fields()
            for slot in answer["slots"]?.array ?? [] {
                fields.add("slot \(slot["id"]?.integer ?? 0)", VaultCommand.text(of: slot))
            }
            return fields.text
        }
    }

    struct Add: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Add a slot that opens with another key.")
        @OptionGroup var key: KeyOptions
        @OptionGroup var options: ClientOptions

        func request() throws -> RouteRequest { .post("vault/slots", try key.body(), timeout: .seconds(120)) }

        func text(of answer: JSON) -> String {
            "added slot \(answer["id"]?.integer ?? 0): \(VaultCommand.text(of: answer))"
        }
    }

    struct Test: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "test", abstract: "Try whether a slot opens, before the next start needs it.",
            discussion: "The key is the one that the agent would use, unless a file is named. Nothing is changed.")

        @Argument(help: "Number of the slot; see: latchkey vault slots") var slot: Int64
        @Option(help: ArgumentHelp("File with the key to try; - for standard input.", valueName: "path")) var keyFile:
            String?
        @OptionGroup var options: ClientOptions

        func request() throws -> RouteRequest {
            var body: [String: JSON] = [:]
            if let keyFile {
                let key =
                    try keyFile == "-" ? Input.standardInput(limit: 4096) : Input.file(keyFile, limit: 4096)
                body["key"] = .string(Base64.encode(key))
            }
            return .post("vault/slots/\(slot)/test", body, timeout: .seconds(120))
        }

        func text(of answer: JSON) -> String { "slot \(slot) opens: \(VaultCommand.text(of: answer))" }
    }

    struct Rewrap: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "rewrap",
            abstract: "Give a slot another key; the former one no longer opens it.",
            discussion:
                "Put the new key in its place before the agent starts again: from now on, it alone opens this slot.")

        @Argument(help: "Number of the slot; see: latchkey vault slots") var slot: Int64
        @OptionGroup var key: KeyOptions
        @OptionGroup var options: ClientOptions

        func request() throws -> RouteRequest { .post("vault/slots/\(slot)", try key.body(), timeout: .seconds(120)) }

        func text(of answer: JSON) -> String { "slot \(slot) has another key: \(VaultCommand.text(of: answer))" }
    }

    struct Remove: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove a slot, so that its key no longer opens the store.",
            discussion: "A copy of the store from before still opens with it.")

        @Argument(help: "Number of the slot; see: latchkey vault slots") var slot: Int64
        @Flag(help: "Even if only development key files are left.") var force = false
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest { .delete("vault/slots/\(slot)", query: ["force": force ? "true" : nil]) }

        func text(of answer: JSON) -> String { "removed slot \(slot)" }
    }

    struct Rekey: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "rekey", abstract: "Seal all records with a new key.",
            discussion: """
                The board goes on meanwhile. If it is stopped, the next start finishes. The slots and their keys stay: \
                they open the root key, which is above this one.

                With --root the root key is a new one, so that a credential that leaked does not open later copies of \
                the store. It stays in the slot that opened the store; the others have to be dropped, and may be added \
                again.
                """)
        @Flag(help: "Make a new root key, too.") var root = false
        @Option(
            help: ArgumentHelp("With --root: a slot that goes; may be repeated.", valueName: "slot")) var drop:
            [Int64] = []
        @OptionGroup var options: ClientOptions

        func validate() throws {
            if !root, !drop.isEmpty { throw ValidationError("--drop belongs to --root") }
        }

        func request() -> RouteRequest {
            .post("vault/rekey", ["root": .bool(root), "drop": .array(drop.map(JSON.integer))], timeout: .seconds(600))
        }

        func text(of answer: JSON) -> String {
            let out = Terminal.standardOutput
            let left = (answer["damaged"]?.array ?? []).compactMap(\.string).map {
                "\n" + out.yellow(out.shown("\($0) is damaged, and was left alone"))
            }
            return "sealed \(Amount.of(answer["moved"]?.integer ?? 0, "record")) with a new key" + left.joined()
        }
    }

    /// The key for a new slot. It is never an argument, which every user of this machine could read.
    struct KeyOptions: ParsableArguments {
        enum Kind: String, CaseIterable, ExpressibleByArgument {
            case systemdCredential = "systemd-credential"
            case passphrase, tpm, pkcs11

            /// Whether hardware has its key.
            var isHardware: Bool { self == .tpm || self == .pkcs11 }
        }

        @Option(help: "What opens the slot; hardware needs no key.") var kind: Kind
        @Option(help: ArgumentHelp("File with the key; without it, standard input.", valueName: "path")) var keyFile:
            String?

        func validate() throws {
            if kind.isHardware, keyFile != nil {
                throw ValidationError("hardware has the key of its slot itself: leave out --key-file")
            }
        }

        func body() throws -> [String: JSON] {
            guard !kind.isHardware else { return ["kind": .string(kind.rawValue)] }
            var key: [UInt8]
            if let keyFile {
                key = try Input.file(keyFile, limit: 4096)
            } else if kind == .passphrase, Terminal.inputIsTerminal {
                key = Array(try Input.withoutEcho("Passphrase: ").utf8)
            } else {
                key = try Input.standardInput(limit: 4096)
            }
            // As when the agent reads a passphrase file: the line feed that editors add at the end is not part of it.
            if kind == .passphrase, key.last == UInt8(ascii: "\n") { key.removeLast() }
            return ["kind": .string(kind.rawValue), "key": .string(Base64.encode(key))]
        }
    }

    static func text(of slot: JSON) -> String {
        let state =
            slot["isDamaged"]?.bool == true ? "  damaged" : slot["isInUse"]?.bool == true ? "  opened the store" : ""
        return "\(slot["kind"]?.string ?? "?"), made \(slot["created"]?.string ?? "?")\(state)"
    }
}
