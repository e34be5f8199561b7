import ArgumentParser
import FoundationEssentials
import Groundwork
import LocalAPI

struct InboxCommand: AsyncParsableCommand, Listed {
    static let configuration = CommandConfiguration(
        commandName: "inbox",
        abstract: "Show and read messages that wait for a program.",
        discussion: """
            An inbox is a standing subscription: the agent keeps its messages on the disk, whether a program reads or \
            not, until one has acknowledged them. Each [[inbox]] of the settings makes one, and so does 'latchkey \
            inbox add'.

              $ latchkey inbox add orders 'orders/#'
              $ latchkey inbox
              $ latchkey inbox read orders
              $ latchkey inbox ack orders 17
              $ latchkey inbox read orders --follow --ack --payload line | while read -r order; do …; done
            """,
        subcommands: [List.self, Add.self, Read.self, Ack.self, Remove.self], defaultSubcommand: List.self)

    static let list = ListRoute(
        "List the inboxes.", "inbox", member: "inboxes", orElse: "no inboxes; make one with: latchkey inbox add")

    struct Add: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add an inbox, until it is removed.",
            discussion: """
                Messages that match the filter are kept from now on, also after a restart. Beyond its limits the \
                oldest go first. It ends with 'latchkey inbox remove', and with the board's registration. There are at \
                most 32. Adding an inbox that exists already changes nothing.
                """)
        @Argument(help: "Name of the inbox: lower-case letters, digits and hyphens.") var name: String
        @Argument(help: "Topic filter below the device's own; + and # as in MQTT.") var filter: String
        @Flag(help: "Use the filter unchanged, not below the device's own topics.") var raw = false
        @Option(help: "Quality of service: 0, 1 or 2.") var qos = 1
        @Option(help: ArgumentHelp("The most messages that wait; by default 10000.", valueName: "n"))
        var limitMessages: Int64?
        @Option(help: ArgumentHelp("The most bytes that they take; by default 16 MiB.", valueName: "bytes"))
        var limitBytes: Int64?
        @Option(help: ArgumentHelp("How long a message waits; by default 720.", valueName: "hours"))
        var maxAgeHours: Int64?
        @Flag(help: "Also take messages that the broker had retained before.") var retained = false
        @OptionGroup var options: ClientOptions

        func validate() throws {
            guard (0...2).contains(qos) else { throw ValidationError("--qos is 0, 1 or 2") }
            try Self.check("--limit-messages", limitMessages, in: 1...1_000_000)
            try Self.check("--limit-bytes", limitBytes, in: 65_536...1 << 32)
            try Self.check("--max-age-hours", maxAgeHours, in: 1...87_600)
        }

        // Never inlined: where the compiler unrolled this check, it chose other registers from build to build.
        @inline(never)
        private static func check(_ option: String, _ value: Int64?, in range: ClosedRange<Int64>) throws {
            guard let value, !range.contains(value) else { return }
            throw ValidationError("\(option) is \(range.lowerBound) to \(range.upperBound)")
        }

        func request() -> RouteRequest {
            .post(
                "inbox",
                [
                    "name": .string(name), "filter": .string(filter), "raw": .bool(raw), "qos": .integer(Int64(qos)),
                    "retained": .bool(retained), "limitMessages": limitMessages.map(JSON.integer),
                    "limitBytes": limitBytes.map(JSON.integer), "maxAgeHours": maxAgeHours.map(JSON.integer),
                ])
        }

        func text(of answer: JSON) -> String {
            answer["changed"]?.bool == true ? "added inbox \(name)" : "inbox \(name) is there already"
        }
    }

    struct Read: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "read",
            abstract: "Print the messages that wait, the oldest first.",
            discussion: """
                Each begins with its number. Messages stay until they are acknowledged: with 'latchkey inbox ack', or \
                with --ack as soon as they are printed. A message can appear twice.

                With --payload, only the bytes of the messages: 'line' adds a line feed to each, 'nul' a NUL, and \
                'length' puts the length before each, in four bytes with the most significant first.
                """)
        @Argument(help: "Name of the inbox.") var name: String
        @Flag(name: .shortAndLong, help: "Then print each message as it arrives, until Ctrl-C.") var follow = false
        @Flag(help: "Acknowledge the messages that were printed.") var ack = false
        @Option(help: ArgumentHelp("Stop after N messages.", valueName: "n")) var count: Int?
        @Option(help: ArgumentHelp("Print payloads alone: line, nul or length.", valueName: "framing"))
        var payload: String?
        @OptionGroup var options: ClientOptions

        func validate() throws {
            guard count ?? 1 > 0 else { throw ValidationError("--count is 1 or more") }
            guard ["line", "nul", "length"].contains(payload ?? "line") else {
                throw ValidationError("--payload is line, nul or length")
            }
            guard payload == nil || !options.json else { throw ValidationError("give one of --payload and --json") }
        }

        func run() async throws {
            let (client, path) = (options.client, "/v1/inbox/\(name.segment)")
            var (left, last) = (count ?? .max, Int64(0))
            while left > 0 {
                let page = try await client.get("\(path)?after=\(last)&limit=\(min(left, 100))")
                let messages = page["messages"]?.array ?? []
                guard !messages.isEmpty else { break }
                last = try await show(messages) ?? last
                left -= messages.count
            }
            guard follow, left > 0 else { return }
            try await Following(client: client, path: "\(path)/stream?after=\(last)", isKnown: true).run { event in
                // A stream that was opened again begins where the first one did.
                guard event.name == "message", event.data["id"]?.integer ?? 0 > last else { return true }
                last = try await show([event.data]) ?? last
                left -= 1
                return left > 0
            }
        }

        /// - Returns: the number of the last.
        private func show(_ messages: [JSON]) async throws -> Int64? {
            var output: [UInt8] = []
            for message in messages { append(message, to: &output) }
            Terminal.bytes(output)
            let last = messages.last?["id"]?.integer
            if ack, let last {
                _ = try await options.send(.post("inbox/\(name.segment)/acknowledge", ["id": .integer(last)]))
            }
            return last
        }

        private func append(_ message: JSON, to output: inout [UInt8]) {
            let out = Terminal.standardOutput
            let content = message["text"]?.string.map { Array($0.utf8) }
            let bytes = content ?? Base64.decode(message["payload"]?.string ?? "") ?? []
            switch payload {
            case "length":
                for place in 0..<4 { output.append(UInt8(truncatingIfNeeded: bytes.count >> (24 - 8 * place))) }
                output += bytes
            case "nul": output += bytes + [0]
            case "line":
                output += out.shown(String(decoding: bytes, as: UTF8.self)).utf8
                output.append(UInt8(ascii: "\n"))
            default:
                output += (options.json ? out.shownJSON(message.text) : text(of: message)).utf8
                output.append(UInt8(ascii: "\n"))
            }
        }

        private func text(of message: JSON) -> String {
            let out = Terminal.standardOutput
            let topic = message["ownTopic"]?.string ?? message["topic"]?.string ?? ""
            let sender = message["envelope"]?["senderID"]?.string.map { " from \(Identifier.short($0))" } ?? ""
            let content =
                message["text"]?.string ?? "\(Amount.of(message["bytes"]?.integer ?? 0, "byte")) of binary data"
            let head = "\(message["id"]?.integer ?? 0)  \(message["receivedAt"]?.string ?? "")  "
            return out.dim(head + out.shown(topic + sender)) + "  \(out.shown(content))"
        }
    }

    struct Ack: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "ack",
            abstract: "Acknowledge messages: they are removed.",
            discussion: """
                Acknowledges all messages up to the given one, or with --only that one alone. A number beyond the \
                newest message is refused, and nothing is acknowledged then.
                """)
        @Argument(help: "Name of the inbox.") var name: String
        @Argument(help: "The number of a message.") var id: Int64
        @Flag(help: "Acknowledge this message alone, not those before it.") var only = false
        @OptionGroup var options: ClientOptions

        func request() -> RouteRequest {
            .post("inbox/\(name.segment)/acknowledge", ["id": .integer(id), "only": .bool(only)])
        }

        func text(of answer: JSON) -> String {
            "acknowledged \(Amount.of(answer["removed"]?.integer ?? 0, "message"))"
        }
    }

    struct Remove: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove an inbox that was added, with its messages, or all messages of another.",
            discussion: """
                If the inbox belongs to the settings or to an action, or if the settings no longer name it, all its \
                messages are removed, read or not; the inbox itself is removed by editing the settings.
                """)
        @Argument(help: "Name of the inbox.") var name: String
        @Flag(help: "Do not ask for confirmation.") var yes = false
        @OptionGroup var options: ClientOptions

        func confirm() throws {
            try Confirmation.ask("this removes all messages of inbox \(name), read or not", isGiven: yes)
        }

        func request() -> RouteRequest { .delete("inbox/\(name.segment)") }

        func text(of answer: JSON) -> String {
            let inbox = answer["ended"]?.bool == true ? "the inbox and " : ""
            return "removed \(inbox)\(Amount.of(answer["removed"]?.integer ?? 0, "message"))"
        }
    }

    static func describe(_ inbox: JSON) -> String {
        let out = Terminal.standardOutput
        let unread = inbox["unread"]?.integer ?? 0
        var text = "\(out.shown(inbox["name"]?.string ?? "?"))  \(Amount.of(unread, "message"))"
        if unread > 0 { text += " since \(inbox["oldest"]?.string ?? "?")" }
        if let dead = inbox["dead"]?.integer, dead > 0 { text += out.yellow(", \(dead) set aside") }
        if let dropped = inbox["dropped"]?.integer, dropped > 0 { text += out.yellow(", \(dropped) dropped") }
        if inbox["added"]?.bool == true { text += ", added" }
        if inbox["filter"] == nil { text += ", no longer in the settings" }
        return text
    }
}
