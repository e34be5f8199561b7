import Groundwork

extension Messenger {
    /// Asks for messages. Those that come before ``run()`` has connected are not lost where the session is kept.
    ///
    /// Waits for the broker's answer when there is a connection, and otherwise asks at the next one. Several subscribers of
    /// one filter share a subscription at the broker; a retained message then comes to all of them again with each new one.
    ///
    /// - Parameters:
    ///   - qos: the most that the broker is asked for.
    ///   - bound: the most messages that wait for this subscriber.
    /// - Throws: ``MessagingError/subscriptionRefused(_:)``
    public func subscribe(
        _ filter: TopicFilter, qos: QoS = .atLeastOnce, bound: Int = 1000
    ) async throws(MessagingError) -> Subscription {
        let subscription = inbox.subscribe(filter, qos: qos, bound: bound) { [weak self] in
            Task { await self?.release(filter) }
        }
        guard isOpen, let connection else { return subscription }
        connection.tell(.subscribe(filter, inbox.filters[filter] ?? qos))
        let granted = await withCheckedContinuation { awaitedAnswers[filter, default: []].append($0) }
        guard granted else { throw .subscriptionRefused(filter) }
        return subscription
    }

    /// - Throws: ``MessagingError/invalidFilter(_:_:)``, ``MessagingError/subscriptionRefused(_:)``
    public func subscribe(
        _ filter: String, qos: QoS = .atLeastOnce, bound: Int = 1000
    ) async throws(MessagingError) -> Subscription {
        try await subscribe(try TopicFilter(filter), qos: qos, bound: bound)
    }

    /// Nobody reads a subscription any more; the last one takes the filter from the broker.
    private func release(_ filter: TopicFilter) {
        guard inbox.filters[filter] == nil, isOpen, established.remove(filter) != nil else { return }
        connection?.tell(.unsubscribe(filter))
    }

    /// Brings the broker's session in line with what is asked for here.
    func restoreSubscriptions(over connection: Connection, sessionPresent: Bool) {
        let wanted = inbox.filters
        if !sessionPresent { established = [] }
        for filter in established where wanted[filter] == nil {
            connection.tell(.unsubscribe(filter))
            established.remove(filter)
        }
        for (filter, qos) in wanted where !established.contains(filter) { connection.tell(.subscribe(filter, qos)) }
    }

    func answer(_ filter: TopicFilter, granted: Bool) {
        if granted {
            established.insert(filter)
            // It may have ended while the answer was on its way.
            release(filter)
        } else {
            events.send(.subscriptionRefused(filter))
        }
        for waiting in awaitedAnswers.removeValue(forKey: filter) ?? [] { waiting.resume(returning: granted) }
    }

    /// Lets those go on who wait for an answer that the lost connection cannot bring: they are asked for with the next one.
    func answerAll() {
        for waiting in awaitedAnswers.values.joined() { waiting.resume(returning: true) }
        awaitedAnswers = [:]
    }
}
