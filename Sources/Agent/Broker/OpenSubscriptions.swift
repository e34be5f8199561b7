import Groundwork
import LocalAPI
import Messaging
import Synchronization

/// The subscriptions of local programs at one station, so that they end with it.
final class OpenSubscriptions: Sendable {
    private struct Entry {
        weak var subscription: Subscription?
    }

    private struct State {
        var entries: [Entry] = []
        var hasEnded = false
    }
    private let state = Mutex(State())

    /// - Throws: ``AgentError/subscriptionEnded`` if the station has ended in the meantime.
    func add(_ subscription: Subscription) throws(AgentError) {
        let isLate = state.withLock { state in
            // Subscriptions whose readers are gone.
            state.entries.removeAll { $0.subscription == nil }
            state.entries.append(Entry(subscription: subscription))
            return state.hasEnded
        }
        if isLate { throw .subscriptionEnded }
    }

    func end() {
        let entries = state.withLock { state in
            defer { state = State(hasEnded: true) }
            return state.entries
        }
        for entry in entries { entry.subscription?.finish() }
    }
}

/// Messages arriving for a local program, as the events of its stream.
///
/// Survives lost connections to the broker. Ends with an error when its registration ends, such as by a switch to
/// another gateway: its topics belong to that registration, and no message would ever arrive again.
struct Deliveries: AsyncSequence, Sendable {
    let subscription: Subscription
    /// Messages on these topics are left out.
    var leavingOut: Set<String> = []
    /// The device's own topics; a topic below them is shown by the name that programs use.
    var topics: TopicNamespace?

    struct AsyncIterator: AsyncIteratorProtocol {
        private let subscription: Subscription
        private var deliveries: Subscription.Iterator
        private let leavingOut: Set<String>
        private let topics: TopicNamespace?
        private var hasBegun = false

        init(_ deliveries: Deliveries) {
            subscription = deliveries.subscription
            leavingOut = deliveries.leavingOut
            topics = deliveries.topics
            self.deliveries = subscription.makeAsyncIterator()
        }

        /// - Throws: ``AgentError/subscriptionEnded``
        mutating func next() async throws -> LocalEvent? {
            guard hasBegun else {
                hasBegun = true
                // Reports that the broker has accepted the subscription: no message sent from now on is missed.
                return LocalEvent(name: "subscribed", data: ["filter": .string(subscription.filter.text)])
            }
            while let delivery = await deliveries.next() {
                if case .message(let message) = delivery, leavingOut.contains(message.topic) { continue }
                return LocalEvent(delivery, topics)
            }
            // The task of a reader that left is canceled, which ends the subscription too.
            guard !Task.isCancelled else { return nil }
            throw AgentError.subscriptionEnded
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
