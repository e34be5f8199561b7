import Groundwork

/// An element of a ``Subscription``.
public enum Delivery: Sendable, Equatable {
    case message(IncomingMessage)
    /// This many messages, the oldest ones, were dropped here because the subscriber did not keep up.
    case lagged(Int)
}

/// The messages that one subscriber asked for, in the order in which the broker sent them.
///
/// A subscriber that does not keep up loses its own oldest messages and learns how many; it never holds up others. A
/// subscription ends with its last reference, or when the task that reads it is canceled. One task reads it.
public final class Subscription: AsyncSequence, Sendable {
    public typealias Failure = Never

    /// The most payload bytes that wait for one subscriber. A user of the local API has at most ten subscriptions, so
    /// less than 8 MiB.
    static let byteLimit = 768 << 10

    private struct State {
        var waiting = Queue<IncomingMessage>()
        var bytes = 0
        var lost = 0
        var hasEnded = false

        mutating func take() -> Delivery? {
            if lost > 0 {
                defer { lost = 0 }
                return .lagged(lost)
            }
            guard let message = waiting.popFirst() else { return nil }
            bytes -= message.payload.count
            return .message(message)
        }
    }

    public let filter: TopicFilter
    let qos: QoS
    private let bound: Int
    private let state = AsyncCondition(State())
    private let onEnd: @Sendable () -> Void

    /// - Parameters:
    ///   - bound: the most messages that wait.
    ///   - onEnd: called once.
    init(_ filter: TopicFilter, qos: QoS, bound: Int, onEnd: @escaping @Sendable () -> Void) {
        self.filter = filter
        self.qos = qos
        self.bound = Swift.max(1, bound)
        self.onEnd = onEnd
    }

    deinit { finish() }

    /// Ends the subscription; waiting messages are discarded.
    public func finish() {
        let isFirst = state.change { state in
            defer { state = State(hasEnded: true) }
            return !state.hasEnded
        }
        if isFirst { onEnd() }
    }

    func deliver(_ message: IncomingMessage) {
        state.change { state in
            guard !state.hasEnded else { return }
            state.waiting.append(message)
            state.bytes += message.payload.count
            while state.waiting.count > bound || (state.bytes > Self.byteLimit && state.waiting.count > 1) {
                state.bytes -= state.waiting.popFirst()?.payload.count ?? 0
                state.lost += 1
            }
        }
    }

    private func next() async -> Delivery? {
        await withTaskCancellationHandler {
            await state.wait { state -> Delivery?? in
                if state.hasEnded { return .some(nil) }
                guard let delivery = state.take() else { return nil }
                return delivery
            }
        } onCancel: {
            finish()
        }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(subscription: self) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let subscription: Subscription

        public mutating func next() async -> Delivery? { await subscription.next() }
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Delivery? {
            await subscription.next()
        }
    }
}
