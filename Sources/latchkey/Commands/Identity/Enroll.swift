import ArgumentParser
import FoundationEssentials
import Groundwork

struct Enroll: RouteCommand {
    static let configuration = CommandConfiguration(
        commandName: "enroll",
        abstract: "Enroll this board at a gateway and register it.",
        discussion: """
            The enrollment URL works once, and holds the hash of the gateway's key, so that the first connection is \
            already safe. With '-' it is read from standard input, where no process list shows it; on a terminal, paste \
            it. A file holds the URL, also as an internet shortcut, or is an exported msso_config.json.

              $ latchkey enroll -
              $ latchkey enroll - < url.txt

            Enrolled at another gateway, the board switches to it. With --account it is registered there under another \
            name and stays where it is too.

              $ latchkey enroll --account plant2 - < url.txt
            """)

    @Argument(
        help: ArgumentHelp(
            "'-' for standard input, or a file. A URL is taken too, but every user of this machine can "
                + "read it in the process list.", valueName: "-|file"))
    var source: String

    @Flag(help: "Do not register yet: the first user who logs in registers the board.")
    var noRegister = false

    @OptionGroup var options: AccountOptions

    /// Longest document, in bytes; the daemon takes requests of 1 MiB.
    private static let limit = 1_000_000

    /// The request for the given input: a URL, a document, or, as an argument, the path of one.
    ///
    /// Text that looks like a URL is never treated as a path: it may contain a ticket, which must not appear in an
    /// error message.
    static func body(of given: String) throws -> JSON {
        let text = given.trimmed
        let path = text.hasPrefix("file://") ? String(text.dropFirst(7)) : text
        if path.contains("://") { return try body(in: text, of: "the argument") }
        return try body(in: Input.text(Input.file(path, limit: limit), of: path), of: path)
    }

    /// - Parameter name: the source of the text, for an error, which never quotes the text itself.
    static func body(in text: String, of name: String) throws -> JSON {
        let text = text.trimmed
        if text.hasPrefix("{") {
            do {
                return ["configuration": try JSON(parsing: text.utf8)]
            } catch {
                throw InputError.unreadable(name: name, reason: error.message)
            }
        }
        let url: String
        do throws(WrittenURL.Fault) {
            url = try WrittenURL(text).text
        } catch {
            throw InputError.unreadable(name: name, reason: error.reason)
        }
        guard url.contains("://"), !url.contains(where: \.isWhitespace) else {
            throw InputError.neitherURLNorDocument(name: name)
        }
        return ["url": .string(url)]
    }

    /// Pasted input: one line with a URL, a shortcut to its line with one, or a document to its end.
    private static func pasted() throws(InputError) -> String {
        Terminal.error("Paste the enrollment URL or the configuration document, then press Enter:")
        var text = ""
        while let line = readLine(strippingNewline: false) {
            text += line
            guard text.utf8.count <= limit else { throw .tooLong(name: "standard input", limit: limit) }
            if isWhole(text.trimmed, endingIn: line) { break }
        }
        return text
    }

    /// Whether nothing more is to be waited for.
    static func isWhole(_ text: String, endingIn line: String) -> Bool {
        if text.hasPrefix("{") { return line.contains("}") && (try? JSON(parsing: text.utf8)) != nil }
        return !text.isEmpty && (!WrittenURL.isShortcut(text) || (try? WrittenURL(text)) != nil)
    }

    private static func standardInput() throws(InputError) -> String {
        if Terminal.inputIsTerminal { return try pasted() }
        return try Input.text(Input.standardInput(limit: limit), of: "standard input")
    }

    func request() throws -> RouteRequest {
        let body = try source == "-" ? Self.body(in: Self.standardInput(), of: "standard input") : Self.body(of: source)
        var members: [String: JSON?] = body.object ?? [:]
        if noRegister { members["register"] = false }
        // Registration makes a key pair and asks the gateway several times; a small board takes a while.
        return .post("enrollments", members, timeout: .seconds(180), saying: "enrolling")
    }

    func text(of answer: JSON) -> String { Self.describe(answer) }

    static func describe(_ answer: JSON) -> String {
        var fields = Fields()
        if let former = answer["switchedFrom"]?["url"]?.string {
            fields.add("switched from", "\(former); the registration there is kept")
        }
        fields.add("gateway", answer["gateway"]?["url"]?.string)
        fields.add("registration", answer["registration"]?["state"]?.string)
        fields.add("device", answer["registration"]?["deviceID"]?.string)
        fields.add("mag-identifier", answer["registration"]?["magIdentifier"]?.string)
        return fields.text
    }
}
