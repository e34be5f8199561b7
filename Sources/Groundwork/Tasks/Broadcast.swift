import Synchronization

/// Sends every value to every subscriber, in order; each has its own queue.
///
/// A slow subscriber loses its own oldest values and does not affect others; the sender never waits.
public final class Broadcast<Element: Sendable>: Sendable {
    private typealias Subscriber = AsyncStream<Element>.Continuation

    /// A value, or the end, on its way to those who had subscribed when it was sent.
    private struct Delivery {
        /// `nil` ends the subscriptions.
        let element: Element?
        let subscribers: [Subscriber]
    }

    private struct State {
        var next = 0
        var subscribers: [Int: Subscriber] = [:]
        var ended = false
        var deliveries: [Delivery] = []
        /// Whether a sender is delivering; it also delivers what others send meanwhile.
        var isDelivering = false

        mutating func beginDelivering() -> Bool {
            guard !isDelivering else { return false }
            isDelivering = true
            return true
        }

        mutating func takeDelivery() -> Delivery? {
            isDelivering = !deliveries.isEmpty
            return deliveries.isEmpty ? nil : deliveries.removeFirst()
        }
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

    /// All subscribers get the values of several senders in the same order. While another sender delivers, this one
    /// leaves its value to it.
    public func send(_ element: Element) {
        enqueue(element)
        deliver()
    }

    /// The first half of ``send(_:)``, for a sender that holds a lock, so that values have the order of its changes. It
    /// calls ``deliver()`` once it has let go of the lock.
    public func enqueue(_ element: Element) {
        state.withLock { state in
            guard !state.subscribers.isEmpty else { return }
            state.deliveries.append(Delivery(element: element, subscribers: Array(state.subscribers.values)))
        }
    }

    /// The second half of ``send(_:)``: delivers what is waiting.
    ///
    /// Outside of every lock: a value for a waiting task takes that task's lock, and a task that is canceled holds its
    /// own while its subscription ends here, and while its cancellation handlers run.
    public func deliver() {
        guard state.withLock({ $0.beginDelivering() }) else { return }
        while let delivery = state.withLock({ $0.takeDelivery() }) {
            for subscriber in delivery.subscribers {
                if let element = delivery.element { subscriber.yield(element) } else { subscriber.finish() }
            }
        }
    }

    /// Ends all current and later subscriptions.
    public func finish() {
        state.withLock { state in
            state.ended = true
            state.deliveries.append(Delivery(element: nil, subscribers: Array(state.subscribers.values)))
            state.subscribers.removeAll()
        }
        deliver()
    }
}
