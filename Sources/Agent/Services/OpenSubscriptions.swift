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

    /// - Throws: ``AgentError/subscriptionEnded`` when the station has gone meanwhile.
    func add(_ subscription: Subscription) throws(AgentError) {
        let isLate = state.withLock { state in
            // Those whose readers have gone.
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

/// What arrives for a local program, as the events of its stream.
///
/// Lives through lost connections to the broker. Ends with an error when the registration it belongs to goes, such as by a
/// switch to another gateway: its topics are that registration's, and nothing would ever come again.
struct Deliveries: AsyncSequence, Sendable {
    let subscription: Subscription
    /// Messages on these topics are left out.
    var leavingOut: Set<String> = []
    /// The device's own, so that what is below them is named as programs name it.
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
                // Says that the broker has taken the subscription: nothing sent from now on is missed.
                return LocalEvent(name: "subscribed", data: ["filter": .string(subscription.filter.text)])
            }
            while let delivery = await deliveries.next() {
                if case .message(let message) = delivery, leavingOut.contains(message.topic) { continue }
                return LocalEvent(delivery, topics)
            }
            // A reader that went has its task cancelled, which ends the subscription too.
            guard !Task.isCancelled else { return nil }
            throw AgentError.subscriptionEnded
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
