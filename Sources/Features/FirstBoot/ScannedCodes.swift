import AgentCore
import Synchronization

/// The enrollments that the scanner has read; the newest is tried next.
final class ScannedCodes: Sendable {
    private struct State {
        /// The content of the one that is being tried.
        var tried: [UInt8]?
        var next: WaitingEnrollment?
        /// The wait for the next try.
        var pause: Task<Void, Never>?
    }
    private let state = Mutex(State())
    private let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation

    init() {
        (arrivals, arrival) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Whether one waits to replace what is being tried.
    var hasNext: Bool { state.withLock { $0.next != nil } }

    /// Has a code tried next, in the place of one that waits, and ends the pause of the one that is being tried.
    func add(_ code: WaitingEnrollment) {
        let pause: Task<Void, Never>? = state.withLock { state in
            // Scanners read a code again while it is before them; its URL may have been used by now.
            guard code.content != state.tried else { return nil }
            state.next = code
            return state.pause
        }
        pause?.cancel()
        arrival.yield()
    }

    /// Waits for the next one, which then is the one that is being tried.
    ///
    /// - Returns: `nil` when canceled.
    func next() async -> WaitingEnrollment? {
        state.withLock { $0.tried = nil }
        // An arrival may be that of a code that was taken with the one before.
        for await _ in arrivals where !Task.isCancelled {
            let next: WaitingEnrollment? = state.withLock { state in
                defer { state.next = nil }
                state.tried = state.next?.content
                return state.next
            }
            if let next { return next }
        }
        return nil
    }

    /// Suspends the caller for a delay, or until the network is back or another code is read.
    func pause(for delay: Duration, on network: NetworkWatch) async {
        let pause = Task { _ = await network.pause(for: delay) }
        let isReplaced = state.withLock { state in
            state.pause = pause
            return state.next != nil
        }
        if isReplaced { pause.cancel() }
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
        state.withLock { $0.pause = nil }
    }
}
