import ArgumentParser
import FoundationEssentials
import Glibc
import Groundwork
import LocalAPI

/// Whose connection to the broker a command uses.
struct SpeakerOption: ParsableArguments {
    enum Speaker: String, ExpressibleByArgument, CaseIterable { case board, user }

    @Option(
        name: .customLong("as"),
        help: "Connection to use: board, or user for the logged-in user's, which keeps no messages.")
    var speaker = Speaker.board

    /// What its routes begin with.
    var path: String { speaker == .board ? "/v1" : "/v1/user" }

    /// A route of that connection, below `/v1/`.
    func route(_ name: String) -> String { speaker == .board ? name : "user/\(name)" }
}

struct Publish: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract:
            "Publish a message; when this returns, the broker or the disk has it, or memory if the settings say so.",
        discussion: """
            The topic is below the device's own topics, unless --raw is given.

              $ latchkey publish door/state open
              $ latchkey publish --lines log < lines.txt
              $ latchkey publish --as user note 'below my own topics'
              $ latchkey publish --broker plant line/3/state running
            """)

    @Argument(help: "Topic below the device's own, such as door/state.") var topic: String
    @Argument(help: "The message; without it, standard input.") var message: String?
    @Option(help: "Quality of service: 0, 1 or 2.") var qos = 1
    @Flag(help: "Have the broker keep it for those who subscribe later.") var retain = false
    @Flag(help: "Use the topic unchanged, not below the device's own topics.") var raw = false
    @Flag(help: "Each line of standard input is a message.") var lines = false
    @OptionGroup var speaker: SpeakerOption
    @OptionGroup var broker: BrokerOption
    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard (0...2).contains(qos) else { throw ValidationError("--qos is 0, 1 or 2, not \(qos)") }
        guard broker.broker == nil || speaker.speaker == .board && !raw else {
            throw ValidationError("--broker cannot be used with --as or --raw")
        }
        guard !lines || message == nil else {
            throw ValidationError("--lines reads standard input; leave the message out")
        }
    }

    func run() async throws {
        let client = options.client
        if lines {
            if Terminal.inputIsTerminal { Terminal.error("Each line is a message; Ctrl-D ends.") }
            let count = try await publishLines(by: client)
            options.show(["accepted": .integer(count)]) { _ in "\(Amount.of(count, "message")) accepted" }
        } else {
            let payload = try message.map { Array($0.utf8) } ?? Input.typed("the message", limit: Input.payloadLimit)
            options.show(try await publish(payload, by: client)) { "accepted as message \($0["id"]?.integer ?? 0)" }
        }
    }

    /// Publishes all complete lines read so far, while more arrive: a slow writer's lines are published one by one, a
    /// fast writer's in batches.
    private func publishLines(by client: LocalClient) async throws -> Int64 {
        let path =
            "\(broker.path ?? speaker.path)/messages/lines?topic=\(PercentEncoding.encode(topic))"
            + "&qos=\(qos)&retain=\(retain)" + (broker.path == nil ? "&raw=\(raw)" : "")
        let interruption = try Interruption()
        var input = InputLines(STDIN_FILENO, lineLimit: Input.payloadLimit, endedBy: interruption)
        var progress = Progress()
        var count: Int64 = 0
        do {
            while let batch = try input.next() {
                count += try await client.post(path, text: batch)["accepted"]?.integer ?? 0
                // A person types lines one by one, and the next may take long.
                progress.show("\(Amount.of(count, "message")) accepted …", always: Terminal.inputIsTerminal)
            }
        } catch {
            progress.clear()
            Terminal.error("latchkey: \(Amount.of(count, "message")) accepted before this:")
            throw error
        }
        progress.clear()
        guard !interruption.hasCome else {
            Terminal.error("latchkey: interrupted; \(Amount.of(count, "message")) accepted")
            throw ExitCode(Interruption.exitStatus)
        }
        return count
    }

    private func publish(_ payload: [UInt8], by client: LocalClient) async throws -> JSON {
        var body: [String: JSON] = [
            "topic": .string(topic), "payload": .string(Base64.encode(payload)), "encoding": "base64",
            "qos": .integer(Int64(qos)), "retain": .bool(retain),
        ]
        if broker.path == nil { body["raw"] = .bool(raw) }
        return try await client.post("\(broker.path ?? speaker.path)/messages", .object(body))
    }
}
