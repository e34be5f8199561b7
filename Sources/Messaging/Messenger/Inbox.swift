import FoundationEssentials
import Groundwork
import Synchronization

/// Passes each message from the broker to every subscription that matches it, in batches. Called on the connection's
/// thread, which waits for the disk where there are standing subscriptions, and for nothing else.
final class Inbox: Sendable {
    struct Counts: Sendable {
        var received = 0
        var unclaimed = 0
        var oversized = 0
        /// The broker's reports of errors, and the last of them.
        var reports = 0
        var lastReport: BrokerReport?
    }

    private struct Entry {
        weak var subscription: Subscription?
        let filter: TopicFilter
        let qos: QoS
        /// The number of the last message before it.
        let start: Int
    }

    private struct State {
        var next = 0
        var entries: [Int: Entry] = [:]
        var counts = Counts()
        var recent = RecentMessages()
        /// Of the filters that would bring the broker's reports, those that the broker does not allow.
        var refused: Set<TopicFilter> = []
    }

    private let state = Mutex(State())
    let payloadLimit: Int
    private let attached: Mutex<InboxStore?>
    /// What is subscribed to whether a program reads or not.
    var standing: InboxStore? { attached.withLock { $0 } }
    /// Where the broker reports errors, subscribed to at each connection.
    let reportTopic: Topic?
    let events = Broadcast<MessageEvent>()

    init(payloadLimit: Int, standing: InboxStore? = nil, reportTopic: Topic? = nil) {
        self.payloadLimit = payloadLimit
        attached = Mutex(standing)
        self.reportTopic = reportTopic
    }

    func attach(_ standing: InboxStore) { attached.withLock { $0 = standing } }

    var counts: Counts { state.withLock { $0.counts } }

    /// The filters of all subscriptions, each at the highest quality requested for it.
    ///
    /// That of the broker's reports is left out while another one brings them: some brokers send a message once for
    /// each filter that it matches (MQTT 3.1.1 section 3.3.5).
    var filters: [TopicFilter: QoS] {
        var filters = requestedFilters
        guard let reportFilter else { return filters }
        let refused = state.withLock { $0.refused }
        if !filters.keys.contains(where: { isWider($0) && !refused.contains($0) }) {
            filters[reportFilter] = .atLeastOnce
        }
        return filters
    }

    /// The filter that the agent itself subscribes to, for the broker's reports.
    var reportFilter: TopicFilter? { reportTopic.map { TopicFilter($0) } }

    /// Whether a filter would bring the broker's reports with other messages.
    func isWider(_ filter: TopicFilter) -> Bool {
        guard let reportTopic, filter != reportFilter else { return false }
        return filter.matches(reportTopic.name)
    }

    /// - Parameter filter: one that ``isWider(_:)``.
    func note(_ filter: TopicFilter, isGranted: Bool) {
        state.withLock { state in
            if isGranted { state.refused.remove(filter) } else { state.refused.insert(filter) }
        }
    }

    /// Those of them that were asked for.
    var requestedFilters: [TopicFilter: QoS] {
        let standing = standing?.filters ?? [:]
        return state.withLock { state in
            state.entries.values.reduce(into: standing) { filters, entry in
                let known = filters[entry.filter] ?? .atMostOnce
                filters[entry.filter] = known == .atMostOnce ? entry.qos : known
            }
        }
    }

    /// - Parameter onEnd: called once when the subscription has ended and was removed.
    func subscribe(_ filter: TopicFilter, qos: QoS, bound: Int, onEnd: @escaping @Sendable () -> Void) -> Subscription {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        let subscription = Subscription(filter, qos: qos, bound: bound) { [weak self] in
            self?.state.withLock { _ = $0.entries.removeValue(forKey: id) }
            onEnd()
        }
        state.withLock { state in
            state.entries[id] = Entry(
                subscription: subscription, filter: filter, qos: qos, start: state.counts.received)
        }
        return subscription
    }

    /// To be called before the first message of a connection.
    func connectionBegins() { state.withLock { $0.recent.connectionBegins() } }

    /// - Parameter isKeeping: whether what standing subscriptions want is written; otherwise nothing of QoS 1 that they
    ///   want is among the messages.
    /// - Returns: whether the messages may be acknowledged: what standing subscriptions want of them is on the disk.
    @discardableResult
    func deliver(_ messages: [IncomingMessage], keeping isKeeping: Bool = true) -> Bool {
        let standing = standing
        if let standing {
            guard isKeeping ? standing.keepAndWait(messages) : !standing.wantsPromised(of: messages) else {
                return false
            }
        }
        var accepted = messages
        var isClaimed: [Bool] = []
        // The number of the same message before it, of those that come again.
        var known = [Int](repeating: 0, count: messages.count)
        var parcels: [(Subscription, [IncomingMessage])] = []
        state.withLock { state in
            for place in accepted.indices {
                state.counts.received += 1
                accepted[place].number = state.counts.received
                accepted[place].isShared = state.entries.count > 1
                known[place] = state.recent.note(accepted[place])
            }
            isClaimed = accepted.map { $0.topic == reportTopic?.name || standing?.wants($0) ?? false }
            for entry in state.entries.values {
                guard let subscription = entry.subscription else { continue }
                let matching = accepted.indices.filter {
                    known[$0] <= entry.start && entry.filter.matches(accepted[$0].topic)
                }
                guard !matching.isEmpty else { continue }
                for place in matching { isClaimed[place] = true }
                // Mostly all: then nothing is copied.
                parcels.append(
                    (subscription, matching.count == accepted.count ? accepted : matching.map { accepted[$0] }))
            }
            for isClaimed in isClaimed where !isClaimed { state.counts.unclaimed += 1 }
        }
        // Outside the lock: a subscription may end here, which removes it above.
        for (subscription, parcel) in parcels { subscription.deliver(parcel) }
        report(accepted, isClaimed)
        return true
    }

    /// Counts and reports a message that is too large. The broker gets its acknowledgement, or it would send it again
    /// and again.
    func discard(bytes: Int, to topic: String) {
        state.withLock { state in
            state.counts.received += 1
            state.counts.oversized += 1
        }
        let topic = DisplayText.oneLine(topic, limit: 256)
        events.send(.tooLarge(topic: topic, bytes: bytes, limit: payloadLimit))
    }

    /// Reports messages in envelopes that a program reads, and what the broker reports to any client.
    private func report(_ messages: [IncomingMessage], _ claims: [Bool]) {
        var events: [MessageEvent] = []
        var more = 0
        for (message, isClaimed) in zip(messages, claims) {
            if let report = MessageEvent(reportedBy: message) {
                note(report, at: message.receivedAt)
                if events.count < MessageEvent.limit { events.append(report) }
            } else if isClaimed, events.count < MessageEvent.limit {
                guard let envelope = message.envelope else { continue }
                events.append(.received(MessageSummary(envelope, topic: message.topic), more: 0))
            } else if isClaimed, Envelope.looksLikeEnvelope(message.payload) {
                more += 1
            }
        }
        if more > 0, case .received(let last, _) = events.last {
            events[events.count - 1] = .received(last, more: more)
        }
        for event in events { self.events.send(event) }
    }

    private func note(_ event: MessageEvent, at time: Date) {
        guard case .brokerReported(let topic, let text) = event else { return }
        state.withLock { state in
            state.counts.reports += 1
            state.counts.lastReport = BrokerReport(topic: topic, text: text, time: time)
        }
    }

    /// Ends all subscriptions.
    func finish() {
        let subscriptions = state.withLock { state in state.entries.values.compactMap(\.subscription) }
        for subscription in subscriptions { subscription.finish() }
    }
}
