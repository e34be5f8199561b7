import ArgumentParser
import Groundwork
import LocalAPI

struct Share: RouteCommand {
    static let configuration = CommandConfiguration(
        commandName: "share",
        abstract: "Let devices nearby log in with the session of the user logged in here.",
        discussion: """
            The board is found over Bluetooth for as long as it shares. Each device that asks needs consent: a press \
            of the board's button, or 'latchkey consent'. A long press refuses, a double press ends sharing.

              $ latchkey share --once
              $ latchkey share --for 10m
              $ latchkey share --stop
            """)

    @Flag(help: "Stop after one device has been let in.") var once = false
    @Option(
        name: .customLong("for"), help: ArgumentHelp("Stop after this long, such as 90s, 10m or 2h.", valueName: "time")
    ) var time: String?
    @Flag(help: "Stop sharing.") var stop = false
    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard [once, time != nil, stop].count(where: { $0 }) <= 1 else {
            throw ValidationError("give one of --once, --for and --stop")
        }
        guard time == nil || seconds != nil else {
            throw ValidationError("--for is a time of 1s to 24h, such as 90s, 10m or 2h")
        }
    }

    private var seconds: Int64? {
        guard let time, let unit = time.last.flatMap({ ["s": 1, "m": 60, "h": 3600][$0] as Int64? }),
            let count = Int64(time.dropLast()), count > 0, count <= 86_400, count * unit <= 86_400
        else { return nil }
        return count * unit
    }

    func request() -> RouteRequest {
        if stop { return .delete("proximity/sharing") }
        return .post(
            "proximity/sharing", ["once": .bool(once), "seconds": seconds.map(JSON.integer)], timeout: .seconds(60))
    }

    func text(of answer: JSON) -> String {
        if stop { return "no longer shared" }
        return once ? "shared until one device was let in" : "shared for \(time ?? "10m")"
    }
}

struct Authorize: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authorize",
        abstract: "Let in the device whose QR code was scanned.",
        discussion: """
            Takes the text of the code, as a USB scanner or a person types it; '-' reads one line of standard input. \
            Then it waits for consent: the board's button, or 'latchkey consent' in another terminal.

              $ latchkey authorize -
            """)

    @Argument(help: ArgumentHelp("The text of the code, or '-'.", valueName: "text|-")) var text: String
    @Option(help: "Name of the device, shown to the person who is asked.") var name: String?
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let text = text == "-" ? try Input.line() : text
        let announcing = Task { [client = options.client] in await Self.announceQuestion(of: client) }
        defer { announcing.cancel() }
        options.show(
            try await options.send(
                .post(
                    "proximity/authorizations", ["text": .string(text), "name": name.map(JSON.string)],
                    timeout: .seconds(200)))
        ) { _ in "the device is let in" }
    }

    /// Says once where to answer, as soon as consent is asked for.
    private static func announceQuestion(of client: LocalClient) async {
        while !Task.isCancelled {
            let waiting = try? await client.get("/v1/proximity/consents")["consents"]?.array
            if let id = waiting?.last(where: { $0["way"] == "qr" })?["id"]?.integer {
                return Terminal.error(
                    "Waiting for consent: press the board's button, or run: latchkey consent grant \(id)")
            }
            try? await Task.sleep(for: .milliseconds(200))
        }
    }
}
