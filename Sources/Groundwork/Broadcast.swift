import Synchronization

/// Sends every value to every subscriber, in order; each has its own queue.
///
/// A slow subscriber loses its own oldest values and does not affect others; the sender never waits.
public final class Broadcast<Element: Sendable>: Sendable {
    private struct State {
        var next = 0
        var subscribers: [Int: AsyncStream<Element>.Continuation] = [:]
        var ended = false
    }
    private let state = Mutex(State())

    public init() {}

    /// - Parameter bound: the maximum number of values in this subscriber's queue; beyond it the oldest are dropped.
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
        // Inside the lock, so that all subscribers get the values of two senders in the same order.
        state.withLock { state in
            for subscriber in state.subscribers.values { subscriber.yield(element) }
        }
    }

    /// Ends all current and later subscriptions.
    public func finish() {
        let subscribers = state.withLock { state in
            state.ended = true
            defer { state.subscribers.removeAll() }
            return Array(state.subscribers.values)
        }
        for subscriber in subscribers { subscriber.finish() }
    }
}
