import Synchronization

/// What a subscriber gets.
public enum Delivery: Sendable, Equatable {
    case message(IncomingMessage)
    /// So many messages were left out here, the oldest ones, because the subscriber did not keep up.
    case lagged(Int)
}

/// The messages that one subscriber asked for, in the order in which the broker sent them.
///
/// A subscriber that does not keep up loses its own oldest messages and is told how many; nobody waits for it. It ends
/// with its last reference, or when the task that reads it is cancelled. One task reads it.
public final class Subscription: AsyncSequence, Sendable {
    public typealias Failure = Never

    /// The most bytes of payload that wait for one subscriber. A user of the local API has ten at most, so less than 8 MiB.
    static let byteLimit = 768 << 10

    private struct State {
        var waiting = Queue<IncomingMessage>()
        var bytes = 0
        var lost = 0
        var reader: CheckedContinuation<Delivery?, Never>?
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
    private let state = Mutex(State())
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

    /// Ends it; what waits is forgotten.
    public func finish() {
        let (isFirst, reader) = state.withLock { state in
            defer { state = State(hasEnded: true) }
            return (!state.hasEnded, state.reader)
        }
        reader?.resume(returning: nil)
        if isFirst { onEnd() }
    }

    func deliver(_ message: IncomingMessage) {
        let wakeUp: (CheckedContinuation<Delivery?, Never>, Delivery?)? = state.withLock { state in
            guard !state.hasEnded else { return nil }
            state.waiting.append(message)
            state.bytes += message.payload.count
            while state.waiting.count > bound || (state.bytes > Self.byteLimit && state.waiting.count > 1) {
                state.bytes -= state.waiting.popFirst()?.payload.count ?? 0
                state.lost += 1
            }
            guard let reader = state.reader else { return nil }
            state.reader = nil
            return (reader, state.take())
        }
        if let (reader, delivery) = wakeUp { reader.resume(returning: delivery) }
    }

    private func next() async -> Delivery? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { reader in
                let (now, delivery): (Bool, Delivery?) = state.withLock { state in
                    if state.hasEnded { return (true, nil) }
                    if let delivery = state.take() { return (true, delivery) }
                    state.reader = reader
                    return (false, nil)
                }
                if now { reader.resume(returning: delivery) }
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
