import Foundation
import Synchronization
import TestSupport

/// A process that somebody else may end while its end is waited for.
final class EndableProcess: Sendable {
    private struct State {
        var process: pid_t?
        var isUnwanted = false
    }
    private let state = Mutex(State())

    /// - Throws: `CancellationError` when it was ended before, what `spawn` throws
    func start(_ spawn: () throws -> pid_t) throws {
        try state.withLock { state in
            guard !state.isUnwanted else { throw CancellationError() }
            state.process = try spawn()
        }
    }

    func end() {
        state.withLock { state in
            state.isUnwanted = true
            if let process = state.process { kill(process, SIGTERM) }
        }
    }

    /// Blocks until it has ended.
    ///
    /// - Returns: its exit status, or 128 and the signal that ended it.
    func waitForExit() -> Int32 {
        guard let process = state.withLock({ $0.process }) else { return -1 }
        // Until it is reaped its number belongs to it, and afterwards nobody may send a signal there.
        var ending = siginfo_t()
        while waitid(P_PID, id_t(process), &ending, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        state.withLock { $0.process = nil }
        return ChildProcess.waitForExit(of: process)
    }
}
