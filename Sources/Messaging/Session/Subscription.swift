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
///
/// Its elements are batches: everything that waits, up to ``batchBytes``, so that a busy subscriber is woken less often.
public final class Subscription: AsyncSequence, Sendable {
    public typealias Element = [Delivery]
    public typealias Failure = Never

    /// The most bytes that wait for one subscriber. A user of the local API has at most ten subscriptions, so less than
    /// 8 MiB.
    static let byteLimit = 768 << 10
    /// The bytes with which a batch ends; its last message may exceed them.
    static let batchBytes = 32 << 10

    private struct State {
        var waiting = Queue<IncomingMessage>()
        var bytes = 0
        var lost = 0
        var hasEnded = false

        mutating func add(_ message: IncomingMessage, bound: Int) {
            waiting.append(message)
            bytes += message.size
            while waiting.count > bound || (bytes > Subscription.byteLimit && waiting.count > 1) {
                bytes -= waiting.popFirst()?.size ?? 0
                lost += 1
            }
        }

        mutating func take() -> [Delivery] {
            var batch: [Delivery] = lost > 0 ? [.lagged(lost)] : []
            lost = 0
            let rest = Swift.max(0, bytes - Subscription.batchBytes)
            while !waiting.isEmpty, bytes > rest || batch.isEmpty, let message = waiting.popFirst() {
                bytes -= message.size
                batch.append(.message(message))
            }
            return batch
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

    func deliver(_ messages: [IncomingMessage]) {
        state.change { state in
            guard !state.hasEnded else { return }
            for message in messages { state.add(message, bound: bound) }
        }
    }

    private func next() async -> [Delivery]? {
        await withTaskCancellationHandler {
            await state.wait { state -> [Delivery]?? in
                if state.hasEnded { return .some(nil) }
                let batch = state.take()
                guard !batch.isEmpty else { return nil }
                return batch
            }
        } onCancel: {
            finish()
        }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(subscription: self) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let subscription: Subscription

        public mutating func next() async -> [Delivery]? { await subscription.next() }
        public mutating func next(isolation actor: isolated (any Actor)?) async -> [Delivery]? {
            await subscription.next()
        }
    }
}

extension IncomingMessage {
    /// The bytes that it counts while it waits, which are never none.
    fileprivate var size: Int { payload.count + topic.utf8.count + 1 }
}
