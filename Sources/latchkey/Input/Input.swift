import CLinux
import Glibc
import Groundwork

/// Reads input from a person or a program, bounded.
enum Input {
    /// The most bytes that fit, in base64, into a request of 1 MiB to the daemon, with room for its other members.
    static let payloadLimit = 700 << 10

    static func standardInput(limit: Int) throws(InputError) -> [UInt8] {
        do {
            return try BoundedFile.read(STDIN_FILENO, limit: limit)
        } catch {
            throw InputError(error, name: "standard input")
        }
    }

    /// All of standard input; at a terminal, the person is asked for it.
    static func typed(_ what: String, limit: Int) throws(InputError) -> [UInt8] {
        if Terminal.inputIsTerminal { Terminal.error("Type \(what); Ctrl-D on a line of its own ends it.") }
        return try standardInput(limit: limit)
    }

    /// One line, typed by a person or sent by a scanner.
    static func line() throws(InputError) -> String {
        guard let line = readLine() else { throw .unreadable(name: "standard input", reason: "it ended") }
        guard !line.isEmpty else { throw .unreadable(name: "standard input", reason: "the line is empty") }
        return line
    }

    /// Drops what was typed at a terminal and not read yet: an answer must belong to the current question.
    static func dropTyped() { tcflush(STDIN_FILENO, TCIFLUSH) }

    /// - Parameter name: the source of the bytes, for an error, which never quotes them.
    static func text(_ bytes: [UInt8], of name: String) throws(InputError) -> String {
        do throws(ReceivedText.Fault) {
            return try ReceivedText.decode(bytes)
        } catch {
            throw .unreadable(name: name, reason: error.reason)
        }
    }

    /// The lines of a text that a program or an editor wrote: the first may be a secret, and keeps its blanks.
    static func lines(of bytes: [UInt8], from name: String = "standard input") throws(InputError) -> [String] {
        let breaks: Set<Character> = ["\n", "\r", "\r\n"]
        return try text(bytes, of: name)
            .split(omittingEmptySubsequences: false, whereSeparator: breaks.contains).map(String.init)
    }

    static func firstLine(of bytes: [UInt8], from name: String = "standard input") throws(InputError) -> String {
        try lines(of: bytes, from: name).first ?? ""
    }

    /// Asks at the terminal; Ctrl-C ends the program and leaves the cursor on a new line.
    ///
    /// - Returns: `nil` if the input ended.
    static func answer(to prompt: String) -> String? {
        guard tcgetattr(STDIN_FILENO, &terminalBefore) == 0 else { return readLine() }
        let former = signal(SIGINT, endAtPrompt)
        defer { signal(SIGINT, former) }
        Terminal.prompt(prompt)
        return readLine()
    }

    /// Keeps what is read from now on out of core dumps.
    static func expectSecret() { _ = latchkey_forbid_dumps() }

    /// Asks at the terminal without showing the answer.
    static func withoutEcho(_ prompt: String) throws(InputError) -> String {
        guard let answer = try withoutEcho(prompt, unless: -1) else {
            throw .unreadable(name: "the answer", reason: "no answer can be given")
        }
        return answer
    }

    /// - Parameters:
    ///   - end: a descriptor that is readable as soon as no answer is needed; -1 for an answer that is always needed.
    ///   - showing: whether to show the answer after all.
    /// - Returns: `nil` if the answer became unnecessary before it was given.
    static func withoutEcho(_ prompt: String, unless end: Int32, showing: Bool = false) throws(InputError) -> String? {
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else {
            throw .unreadable(name: "the answer", reason: "standard input is not a terminal")
        }
        var silent = before
        if !showing {
            silent.c_lflag &= ~tcflag_t(ECHO)
            expectSecret()
        }
        terminalBefore = before
        // Ctrl-C while the echo is off would leave the terminal without echo.
        let former = signal(SIGINT, endAtPrompt)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
            signal(SIGINT, former)
            // What is shown ends with its own line break.
            if !showing { Terminal.error("") }
        }
        Terminal.prompt(prompt)
        guard isTyped(unless: end) else {
            if showing { Terminal.error("") }
            return nil
        }
        return try line()
    }

    /// Waits for a whole line; a terminal has nothing to read before that.
    ///
    /// - Returns: `false` if it is no longer needed.
    private static func isTyped(unless end: Int32) -> Bool {
        var states = [STDIN_FILENO, end].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while poll(&states, 2, -1) < 0, errno == EINTR {}
        return states[1].revents == 0
    }

    /// What an argument says: a file after `@`, standard input for `-`, otherwise its own text.
    static func given(_ argument: String, limit: Int) throws(InputError) -> [UInt8] {
        if argument == "-" || argument == "@-" { return try standardInput(limit: limit) }
        return argument.hasPrefix("@") ? try file(String(argument.dropFirst()), limit: limit) : Array(argument.utf8)
    }

    static func file(_ path: String, limit: Int) throws(InputError) -> [UInt8] {
        do {
            return try BoundedFile.read(path, limit: limit, .anything)
        } catch {
            throw InputError(error, name: path)
        }
    }
}

/// The terminal's former settings.
///
/// `nonisolated(unsafe)` is correct because the one command of the process writes them before it sets the signal
/// handler that reads them, which ends the process, and sets the former handler again before it asks anew.
private nonisolated(unsafe) var terminalBefore = termios()

/// On Ctrl-C at a prompt: restores the terminal, and puts the shell's next output on a new line.
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
    /// The input to enroll with; it may contain a ticket and is not shown.
    case neitherURLNorDocument(name: String)
    /// `latchkey explain` knows no such name; `nearest` are the likely ones.
    case unknownName(String, nearest: [String])
    /// The directory has no member of the group that a message is for.
    case groupWithoutMembers(String)

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
                "\(name) contains neither an enrollment URL nor a configuration document",
                remedy: "give the URL from the gateway's administrator, or the msso_config.json that was exported "
                    + "there")
        case .unknownName(let name, let nearest):
            Explanation(
                "input.unknown-name", .invalidInput,
                "there is no error, event or number \(Terminal.withoutControls(name))",
                remedy: nearest.isEmpty
                    ? "latchkey explain --list names them all" : "did you mean: \(nearest.joined(separator: ", "))",
                meaning: "latchkey explain does not know this name")
        case .groupWithoutMembers(let name):
            Explanation(
                "input.group-without-members", .notFound,
                "the group \(Terminal.withoutControls(name)) has no users as members",
                remedy: "add some: latchkey groups add \(Terminal.withoutControls(name)) USER",
                meaning: "the gateway's directory lists no users in the group, so there is no receiver")
        }
    }

    static let examples: [InputError] = [
        .unreadable(name: "FILE", reason: "REASON"), .tooLong(name: "FILE", limit: 1_048_576),
        .unwritable(name: "FILE", reason: "REASON"), .neitherURLNorDocument(name: "FILE"),
        .unknownName("NAME", nearest: []), .groupWithoutMembers("GROUP"),
    ]
}
