import Synchronization

/// Gives every value to every subscriber, in order, each with a queue of its own.
///
/// A subscriber that does not keep up loses its own oldest values and nobody else's; the sender never waits.
public final class Broadcast<Element: Sendable>: Sendable {
    private struct State {
        var next = 0
        var subscribers: [Int: AsyncStream<Element>.Continuation] = [:]
        var ended = false
    }
    private let state = Mutex(State())

    public init() {}

    /// - Parameter bound: the most values that wait for this subscriber; the oldest are dropped beyond it.
    public func subscribe(bound: Int = 256) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(bound))
        let id: Int? = state.withLock { state in
            guard !state.ended else { return nil }
            state.next += 1
            state.subscribers[state.next] = continuation
            return state.next
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.subscribers.removeValue(forKey: id) }
        }
        return stream
    }

    public func send(_ element: Element) {
        // Inside the lock: two senders must not reach two subscribers in different orders.
        state.withLock { state in
            for subscriber in state.subscribers.values { subscriber.yield(element) }
        }
    }

    /// Ends every subscription, now and later.
    public func finish() {
        let subscribers = state.withLock { state in
            state.ended = true
            defer { state.subscribers.removeAll() }
            return Array(state.subscribers.values)
        }
        for subscriber in subscribers { subscriber.finish() }
    }
}
