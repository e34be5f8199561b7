import ArgumentParser
import Groundwork
import LocalAPI

struct Subscribe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscribe",
        abstract: "Print messages as they arrive, until Ctrl-C.",
        discussion: """
            Without a filter: everything sent to this device, except its own telemetry and status. Topics below the \
            device's own are shown as 'latchkey publish' takes them. With --json: one object per line. Resumes when the \
            daemon has restarted, and ends when the registration is removed.

            With --payload, only the bytes of the messages: 'line' adds a line feed to each; if they may contain line \
            feeds, 'nul' adds a NUL (for xargs -0), and 'length' puts the length before each, in four bytes with the \
            most significant first. Everything else, such as how many messages were lost because the reader was too \
            slow, goes to standard error.

            With --save, each message becomes a new file in that directory, of mode 0600 and named after its time; what is \
            printed names it.

            With --broker, the messages of that broker of the settings: whole topics, all of them without a filter.

            With --as user, the messages of the logged-in user; ends when that user logs out.

              $ latchkey subscribe 'door/#' --payload line
              $ latchkey subscribe --as user --save photos
            """)

    @Argument(help: "Topic filter below the device's own; + and # as in MQTT.") var filter: String?
    @Option(help: "Quality of service: 0, 1 or 2.") var qos = 1
    @Option(help: ArgumentHelp("Stop after N messages.", valueName: "n")) var count: Int?
    @Flag(help: "Use the filter unchanged, not below the device's own topics; show whole topics and senders.") var raw =
        false
    @Option(help: ArgumentHelp("Print payloads alone: line, nul or length.", valueName: "framing")) var payload: String?
    @Option(help: ArgumentHelp("Save each message to a file in this directory.", valueName: "directory"))
    var save: String?
    @OptionGroup var speaker: SpeakerOption
    @OptionGroup var broker: BrokerOption
    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard (0...2).contains(qos) else { throw ValidationError("--qos is 0, 1 or 2, not \(qos)") }
        guard count ?? 1 > 0 else { throw ValidationError("--count is 1 or more") }
        guard ["line", "nul", "length"].contains(payload ?? "line") else {
            throw ValidationError("--payload is line, nul or length")
        }
        guard payload == nil || !options.json else { throw ValidationError("give one of --payload and --json") }
        guard broker.broker == nil || speaker.speaker == .board && !raw else {
            throw ValidationError("--broker cannot be used with --as or --raw")
        }
        guard payload == nil || save == nil else { throw ValidationError("give one of --payload and --save") }
    }

    func run() async throws {
        // Now, as the first message would be lost otherwise.
        if let save, try Output.makeDirectory(save) { Terminal.error("created the directory \(save)") }
        var query = "?qos=\(qos)" + (broker.path == nil ? "&raw=\(raw)" : "")
        if let filter { query += "&filter=\(PercentEncoding.encode(filter))" }
        let following = Following(
            client: options.client, path: "\(broker.path ?? speaker.path)/messages\(query)",
            as: payload == nil ? .lines : .frames, isAlone: true)
        // An option is looked up among all others at each access, which costs more than a message.
        let (count, append) = (count, appending())
        var received = 0
        while received != count, let batch = try await following.next() {
            // Those that came together are written together.
            var output: [UInt8] = []
            for record in batch {
                switch record {
                case .event(let event): Terminal.error("latchkey: \(EventLine(event).text)")
                case .message(let message) where received != count:
                    try append(message, &output)
                    received += 1
                case .message: break
                }
            }
            Terminal.bytes(output)
        }
    }

    /// - Returns: appends what is printed of a message.
    private func appending() -> (ArraySlice<UInt8>, inout [UInt8]) throws -> Void {
        let (save, payload, asJSON) = (save, payload, options.json)
        let out = Terminal.standardOutput
        let (hasLength, isLine) = (payload == "length", payload == "line")
        let end: UInt8 = payload == "nul" ? 0 : UInt8(ascii: "\n")
        return { message, output in
            if let save {
                let saved = try SavedMessage(message, in: save)
                output += (asJSON ? out.shownJSON(saved.json.text) : text(of: saved.json)).utf8
            } else if payload == nil, !asJSON {
                output += text(of: (try? JSON(parsing: message, limit: .max)) ?? .null).utf8
            } else if asJSON, out.isTerminal {
                output += Terminal.withEscapes(String(decoding: message, as: UTF8.self)).utf8
            } else if isLine, out.isTerminal {
                output += Terminal.withoutControls(String(decoding: message, as: UTF8.self)).utf8
            } else {
                if hasLength {
                    for place in 0..<4 { output.append(UInt8(truncatingIfNeeded: message.count >> (24 - 8 * place))) }
                }
                output += message
            }
            if !hasLength { output.append(end) }
        }
    }

    private func text(of message: JSON) -> String {
        let whole = message["topic"]?.string ?? ""
        let topic = raw ? whole : message["ownTopic"]?.string ?? whole
        let sender = message["envelope"]?["senderID"]?.string.map { " from \(raw ? $0 : Identifier.short($0))" } ?? ""
        let payload =
            message["file"]?.string ?? message["text"]?.string
            ?? "\(Amount.of(message["bytes"]?.integer ?? 0, "byte")) of binary data"
        let out = Terminal.standardOutput
        return "\(out.dim(out.shown(topic + sender)))  \(out.shown(payload))"
    }
}
