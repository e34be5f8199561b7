import Glibc
import Groundwork

/// Reads what a person or a program hands over, bounded.
enum Input {
    /// The most bytes that fit in base64 into a request to the daemon, of 1 MiB, with room for its other members.
    static let payloadLimit = 700 << 10

    static func standardInput(limit: Int) throws(InputError) -> [UInt8] {
        do {
            return try BoundedFile.read(STDIN_FILENO, limit: limit)
        } catch {
            throw InputError(error, name: "standard input")
        }
    }

    /// All of standard input, which a person is asked for at a terminal.
    static func typed(_ what: String, limit: Int) throws(InputError) -> [UInt8] {
        if Terminal.inputIsTerminal { Terminal.error("Type \(what); Ctrl-D on a line of its own ends it.") }
        return try standardInput(limit: limit)
    }

    /// One line that a person typed, or a scanner.
    static func line() throws(InputError) -> String {
        guard let line = readLine() else { throw .unreadable(name: "standard input", reason: "it ended") }
        guard !line.isEmpty else { throw .unreadable(name: "standard input", reason: "the line is empty") }
        return line
    }

    /// Drops what was typed at a terminal and not read yet: an answer is one to what is asked now.
    static func dropTyped() { tcflush(STDIN_FILENO, TCIFLUSH) }

    static func firstLine(of bytes: [UInt8]) -> String {
        String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }, as: UTF8.self)
    }

    /// Asks at the terminal; Ctrl-C ends the program and leaves the cursor on a line of its own.
    ///
    /// - Returns: `nil` when the input ended.
    static func answer(to prompt: String) -> String? {
        guard tcgetattr(STDIN_FILENO, &terminalBefore) == 0 else { return readLine() }
        let former = signal(SIGINT, endAtPrompt)
        defer { signal(SIGINT, former) }
        Terminal.prompt(prompt)
        return readLine()
    }

    /// Asks at the terminal, where nothing of the answer is shown.
    static func withoutEcho(_ prompt: String) throws(InputError) -> String {
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else {
            throw .unreadable(
                name: "the password", reason: "standard input is not a terminal; use --password-stdin in scripts")
        }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        terminalBefore = before
        // Ctrl-C while the echo is off would leave the person with a terminal that shows nothing.
        let former = signal(SIGINT, endAtPrompt)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
            signal(SIGINT, former)
            Terminal.error("")
        }
        Terminal.prompt(prompt)
        return try line()
    }

    static func file(_ path: String, limit: Int) throws(InputError) -> [UInt8] {
        do {
            return try BoundedFile.read(path, limit: limit, .anything)
        } catch {
            throw InputError(error, name: path)
        }
    }
}

/// How the terminal was; written before the signal handler that reads it is set, by the one command of the process.
private nonisolated(unsafe) var terminalBefore = termios()

/// On Ctrl-C at a prompt: the terminal as it was, and what the shell prints next on a line of its own.
private func endAtPrompt(_: Int32) {
    tcsetattr(STDIN_FILENO, TCSANOW, &terminalBefore)
    var end = UInt8(ascii: "\n")
    _ = write(STDERR_FILENO, &end, 1)
    _exit(130)
}

enum InputError: Explained, Equatable {
    case unreadable(name: String, reason: String)
    case tooLong(name: String, limit: Int)
    case unwritable(name: String, reason: String)
    /// What was given to enroll with; it may hold a ticket and is not shown.
    case neitherURLNorDocument(name: String)
    /// `latchkey explain` knows no such name; `nearest` are those that were likely meant.
    case unknownName(String, nearest: [String])

    init(_ fault: FileFault, name: String) {
        self =
            if case .tooLong(let limit) = fault { .tooLong(name: name, limit: limit) } else {
                .unreadable(name: name, reason: fault.description)
            }
    }

    var explanation: Explanation {
        switch self {
        case .unreadable(let name, let reason):
            Explanation("input.unreadable", .invalidInput, "cannot read \(name): \(reason)")
        case .tooLong(let name, let limit):
            Explanation("input.too-long", .tooLarge, "\(name) has more than \(limit) bytes")
        case .unwritable(let name, let reason):
            Explanation("output.unwritable", .unavailable, "cannot write \(name): \(reason)")
        case .neitherURLNorDocument(let name):
            Explanation(
                "input.neither-url-nor-document", .invalidInput,
                "\(name) holds neither an enrollment URL nor a configuration document",
                remedy: "give the URL from the gateway's administrator, or the msso_config.json that was exported "
                    + "there")
        case .unknownName(let name, let nearest):
            Explanation(
                "input.unknown-name", .invalidInput,
                "there is no error, event or number \(Terminal.withoutControls(name))",
                remedy: nearest.isEmpty
                    ? "latchkey explain --list names them all" : "did you mean: \(nearest.joined(separator: ", "))",
                meaning: "latchkey explain was asked for a name that means nothing here")
        }
    }

    static let examples: [InputError] = [
        .unreadable(name: "FILE", reason: "REASON"), .tooLong(name: "FILE", limit: 1_048_576),
        .unwritable(name: "FILE", reason: "REASON"), .neitherURLNorDocument(name: "FILE"),
        .unknownName("NAME", nearest: []),
    ]
}
