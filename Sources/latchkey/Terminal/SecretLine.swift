import Glibc
import Groundwork
import Synchronization

/// A line that is typed at the terminal without being shown, unless it is no longer needed.
///
/// Read on a separate thread: waiting for a person must not block the event that another person has answered, and a
/// board of one core has one thread for all tasks.
actor SecretLine {
    private static let thread = NamedThread("terminal")
    nonisolated var unownedExecutor: UnownedSerialExecutor { Self.thread.asUnownedSerialExecutor() }

    /// A write to this end makes the other one readable: the line is not needed.
    private let end: Int32
    private let wake: Int32
    private let givenReason = Mutex("")

    /// - Throws: ``InputError/unreadable(name:reason:)`` when the process has no descriptors left.
    init() throws(InputError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw .unreadable(name: "standard input", reason: String(cString: strerror(errno)))
        }
        (end, wake) = (ends[0], ends[1])
    }

    deinit {
        close(end)
        close(wake)
    }

    /// Asks, and waits. Ctrl-C ends the program and restores the terminal.
    ///
    /// - Parameter showing: whether the input is shown while it is typed, because it is not secret.
    /// - Returns: `nil` after ``cancel(_:)``, also an earlier one; its reason is shown.
    func read(_ prompt: String, showing: Bool = false) throws(InputError) -> String? {
        if let line = try Input.withoutEcho(prompt, unless: end, showing: showing) { return line }
        if !reason.isEmpty { Terminal.error(reason) }
        return nil
    }

    /// Why the line is not needed: the first reason that was given.
    nonisolated var reason: String { givenReason.withLock { $0 } }

    /// The line is not needed. This may be said again, without a reason, before the person has been told the first one.
    nonisolated func cancel(_ reason: String = "") {
        givenReason.withLock { if $0.isEmpty { $0 = reason } }
        var byte: UInt8 = 0
        _ = write(wake, &byte, 1)
    }
}
