import ArgumentParser
import FoundationEssentials
import Groundwork
import LocalAPI

struct Enroll: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Enroll this board at a gateway and register it.",
        discussion: """
            The URL works once, and holds the hash of the gateway's key, so that the first connection is already safe.
            With '-' it is read from standard input, where no process list shows it. A file is an exported
            msso_config.json.

              $ latchkey enroll - < enrollment-url.txt
            """)

    @Argument(help: ArgumentHelp("Enrollment URL, exported configuration file, or '-'.", valueName: "url|file|-"))
    var source: String

    @Flag(help: "Do not register yet: whoever logs in first registers the board.")
    var noRegister = false

    @OptionGroup var options: ClientOptions

    /// Longest document, in bytes; the daemon takes requests of 1 MiB.
    private static let limit = 1_000_000

    /// The request for what was given: a URL, a document, or, as an argument, the path of one.
    ///
    /// What looks like a URL is never taken for a path: it may hold a ticket, which has no place in an error message.
    static func body(of given: String, isArgument: Bool) throws -> JSON {
        let text = given.trimmed
        if text.hasPrefix("{") { return ["configuration": try JSON(parsing: text.utf8)] }
        let path = text.hasPrefix("file://") ? String(text.dropFirst(7)) : text
        if path.contains("://") { return ["url": .string(text)] }
        guard isArgument else { throw InputError.neitherURLNorDocument }
        return ["configuration": try JSON(parsing: Input.file(path, limit: limit))]
    }

    func run() async throws {
        var body =
            if source == "-" {
                try Self.body(of: String(decoding: Input.standardInput(limit: Self.limit), as: UTF8.self), isArgument: false)
            } else {
                try Self.body(of: source, isArgument: true)
            }
        if noRegister { body = .object((body.object ?? [:]).merging(["register": false]) { _, new in new }) }
        // Registration makes a key pair and asks the gateway several times; a small board takes its while.
        let answer = try await options.client.post("/v1/enrollments", body, timeout: .seconds(180))
        options.show(answer) { answer in
            var fields = Fields()
            fields.add("gateway", answer["gateway"]?["url"]?.string)
            fields.add("registration", answer["registration"]?["state"]?.string)
            fields.add("device", answer["registration"]?["deviceID"]?.string)
            fields.add("identifier", answer["registration"]?["magIdentifier"]?.string)
            return fields.text
        }
    }
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
