import Groundwork
import Synchronization

/// An element of a ``Subscription``: messages that arrived together.
public struct Delivery: Sendable {
    /// This many messages before these, the oldest ones, were dropped here because the subscriber did not keep up.
    public let lost: Int
    public let messages: ArraySlice<IncomingMessage>
}

/// The messages that one subscriber asked for, in the order in which the broker sent them.
///
/// A subscriber that does not keep up loses its own oldest messages and learns how many; it never holds up others. A
/// subscription ends with its last reference, or when the task that reads it is canceled. One task reads it.
public final class Subscription: AsyncSequence, Sendable {
    public typealias Failure = Never

    /// The most bytes that wait for one subscriber. A user of the local API has at most ten subscriptions, so less than
    /// 8 MiB.
    static let byteLimit = 768 << 10

    private struct State {
        /// As they arrived, shared with other subscribers.
        var parcels = Queue<[IncomingMessage]>()
        /// How many messages of the first parcel were dropped.
        var skipped = 0
        var count = 0
        var bytes = 0
        var lost = 0
        var hasEnded = false
        /// Takes messages before they wait.
        var taker: Taker?
        /// Whether the reader is at work on what it was given: what comes meanwhile waits.
        var isTaken = false
        /// How many are about to pass on what they were given.
        var passing = 0

        mutating func add(_ parcel: [IncomingMessage], bound: Int) {
            parcels.append(parcel)
            count += parcel.count
            for message in parcel { bytes += message.size }
            while count > bound || (bytes > Subscription.byteLimit && count > 1), let first = parcels.first {
                bytes -= first[skipped].size
                count -= 1
                lost += 1
                skipped += 1
                guard skipped == first.count else { continue }
                _ = parcels.popFirst()
                skipped = 0
            }
        }

        /// The taker, if the reader has nothing to do first. Only the thread that delivers can change that, and an end.
        var freeTaker: Taker? { parcels.isEmpty && !isTaken ? taker : nil }

        mutating func take() -> Delivery? {
            guard let parcel = parcels.popFirst() else { return nil }
            let messages = parcel[skipped...]
            for message in messages { bytes -= message.size }
            count -= messages.count
            isTaken = true
            defer { (lost, skipped) = (0, 0) }
            return Delivery(lost: lost, messages: messages)
        }
    }

    public let filter: TopicFilter
    let qos: QoS
    private let bound: Int
    private let state = AsyncCondition(State())
    /// Held while the taker takes.
    private let taking = Mutex(())
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
            defer { state = State(hasEnded: true, passing: state.passing) }
            return !state.hasEnded
        }
        if isFirst { onEnd() }
    }

    /// Ends the subscription like ``finish()``. When it returns, nothing is passed on any more; so neither a taker nor
    /// what ``pass(_:)`` runs may wait for it.
    public func end() async {
        finish()
        taking.withLock { _ in }
        await state.wait { $0.passing == 0 ? () : nil }
    }

    public var hasEnded: Bool { state.read { $0.hasEnded } }

    /// Passes on what the reader was given, unless the subscription has ended: ``end()`` waits for this.
    ///
    /// - Parameter body: must not suspend or block.
    /// - Returns: what `body` returns; `false` if it was not called.
    public func pass(_ body: () -> Bool) -> Bool {
        let mayPass = state.change { state in
            if !state.hasEnded { state.passing += 1 }
            return !state.hasEnded
        }
        guard mayPass else { return false }
        defer { state.change { $0.passing -= 1 } }
        return body()
    }

    /// Takes messages on the thread that delivers them, without waking the reader.
    ///
    /// - Returns: `false` if it cannot now: they are kept for the reader.
    public typealias Taker = @Sendable (ArraySlice<IncomingMessage>) -> Bool

    /// Has messages taken as they arrive, whenever none wait and the reader asks for the next.
    public func deliver(to taker: @escaping Taker) {
        state.change { state in
            if !state.hasEnded { state.taker = taker }
        }
    }

    /// For one thread.
    func deliver(_ parcel: [IncomingMessage]) {
        // Not inside the state's lock: it may end the subscription. Nor does a change of the state, which would have to
        // ask the waiting reader each time, come with every parcel.
        let isDone = taking.withLock { _ in state.read { $0.freeTaker }?(parcel[...]) ?? false }
        guard !isDone else { return }
        state.change { state in
            if !state.hasEnded { state.add(parcel, bound: bound) }
        }
    }

    private func next() async -> Delivery? {
        state.change { $0.isTaken = false }
        return await withTaskCancellationHandler {
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

extension IncomingMessage {
    /// The bytes that it counts while it waits, which are never none.
    fileprivate var size: Int { payload.count + topic.utf8.count + 1 }
}
