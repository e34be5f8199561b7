import Glibc

/// Makes the first Ctrl-C or SIGTERM awaitable, so that work in progress ends well and can be counted. A second one
/// ends the program at once.
struct Interruption {
    /// The status that a shell reports for a command that Ctrl-C ended.
    static let exitStatus: Int32 = 130

    /// Readable once the signal has come; never read from.
    let descriptor: Int32

    /// - Throws: ``InputError/unreadable(name:reason:)`` when the process has no descriptors left.
    init() throws(InputError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw .unreadable(name: "standard input", reason: String(cString: strerror(errno)))
        }
        descriptor = ends[0]
        signalled = ends[1]
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in
            var byte: UInt8 = 0
            _ = write(signalled, &byte, 1)
        }
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
        sigaction(SIGINT, &action, nil)
        sigaction(SIGTERM, &action, nil)
    }

    var hasCome: Bool {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&state, 1, 0) > 0
    }

    /// Waits until there is something to read, or the signal has come.
    func wait(for input: Int32) {
        var states = [input, descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // A signal that is handled here ends the wait with EINTR, and the caller checks.
        poll(&states, 2, -1)
    }
}

/// The descriptor that the signal handler writes to.
///
/// `nonisolated(unsafe)` is correct because it is set before the handler, once, by the one command of the process.
private nonisolated(unsafe) var signalled: Int32 = -1
