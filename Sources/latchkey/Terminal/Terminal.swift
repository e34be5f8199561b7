import FoundationEssentials
import Glibc

/// Text for a person: in color on a terminal, plain in a pipe or where `NO_COLOR` is set (no-color.org).
struct Terminal {
    static let standardOutput = Terminal(descriptor: STDOUT_FILENO)
    static let standardError = Terminal(descriptor: STDERR_FILENO)

    /// Whether standard input is a terminal, where a person types.
    static var inputIsTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    let isTerminal: Bool
    private let hasColor: Bool

    private init(descriptor: Int32) {
        isTerminal = isatty(descriptor) == 1
        let environment = ProcessInfo.processInfo.environment
        hasColor = isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    func red(_ text: String) -> String { colored(31, text) }
    func green(_ text: String) -> String { colored(32, text) }
    func yellow(_ text: String) -> String { colored(33, text) }
    func dim(_ text: String) -> String { colored(2, text) }
    func bold(_ text: String) -> String { colored(1, text) }

    private func colored(_ code: Int, _ text: String) -> String {
        hasColor ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }

    /// One line to standard output, written at once so that the reader of a pipe sees it immediately.
    static func line(_ text: String = "") { bytes(Array((text + "\n").utf8)) }
    /// Bytes to standard output, unchanged. Ends the program if they cannot be written, so that nothing is done that
    /// relies on them: silently if the reader of a pipe is gone, as the signal does that a pipe without one sends.
    static func bytes(_ bytes: [UInt8]) {
        guard let fault = write(bytes, to: STDOUT_FILENO) else { return }
        guard fault != EPIPE else { exit(OutputError.exitStatus) }
        let error = OutputError.standardOutput(reason: String(cString: strerror(fault)))
        Failure(error, asJSON: CommandLine.arguments.contains("--json")).exit()
    }
    /// A question; its answer follows on the same line.
    static func prompt(_ text: String) { write(Array(text.utf8), to: STDERR_FILENO) }
    static func error(_ text: String) { write(Array((text + "\n").utf8), to: STDERR_FILENO) }

    /// - Returns: the number of the error, if there was one.
    @discardableResult
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else {
                let fault = errno
                if fault == EINTR { continue }
                guard fault == EAGAIN else { return fault }
                // A program that shares a terminal or a pipe with this program may have made it so.
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, -1)
                continue
            }
            rest = rest.dropFirst(count)
        }
        return nil
    }
}
