import Groundwork

extension Messenger {
    /// Subscribes. Messages that arrive before ``run()`` has connected are not lost if the broker keeps the session.
    ///
    /// Waits for the broker's answer if there is a connection, and otherwise subscribes when the next one opens.
    /// Several subscribers of one filter share a subscription at the broker; each gets a retained message
    /// once.
    ///
    /// - Parameters:
    ///   - qos: the highest quality requested from the broker.
    ///   - bound: the most messages that wait for this subscriber.
    /// - Throws: ``MessagingError/subscriptionRefused(_:)``
    public func subscribe(
        _ filter: TopicFilter, qos: QoS = .atLeastOnce, bound: Int = 1000
    ) async throws(MessagingError) -> Subscription {
        let subscription = inbox.subscribe(filter, qos: qos, bound: bound) { [weak self] in
            Task { await self?.release(filter) }
        }
        guard isOpen, let connection else { return subscription }
        leaveReports(to: filter)
        connection.send(.subscribe(filter, inbox.filters[filter] ?? qos))
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

    /// Has messages for these inboxes on the disk before they are acknowledged, from now on.
    public func attach(_ inboxes: InboxStore) { inbox.attach(inboxes) }

    /// Subscribes to what an inbox was added for; without a connection, the next one does.
    ///
    /// - Throws: ``MessagingError/subscriptionRefused(_:)``
    public func begin(_ inbox: InboxPolicy) async throws(MessagingError) {
        guard isOpen, let connection else { return }
        leaveReports(to: inbox.filter)
        connection.send(.subscribe(inbox.filter, self.inbox.filters[inbox.filter] ?? inbox.qos))
        let granted = await withCheckedContinuation { awaitedAnswers[inbox.filter, default: []].append($0) }
        guard granted else { throw .subscriptionRefused(inbox.filter) }
    }

    /// Unsubscribes from what an inbox was removed for, unless another reader wants it.
    public func end(_ inbox: InboxPolicy) { release(inbox.filter) }

    /// Returns when there is a connection, or the first attempt has failed.
    public func settle() async {
        guard state == .stopped || state == .connecting else { return }
        for await event in events.subscribe() {
            switch event {
            case .connected, .failed: return
            case .connecting, .refused, .disconnected, .subscriptionRefused: continue
            }
        }
    }

    /// Unsubscribes at the broker when the last subscription of a filter has ended.
    private func release(_ filter: TopicFilter) {
        guard inbox.filters[filter] == nil, isOpen else { return }
        if inbox.isWider(filter) { takeReports() }
        unsubscribe(filter)
    }

    /// Asks the broker once to end a subscription.
    private func unsubscribe(_ filter: TopicFilter) {
        guard established.contains(filter), ending.insert(filter).inserted else { return }
        connection?.send(.unsubscribe(filter))
    }

    /// Ends the agent's own subscription to the broker's reports before a wider filter brings them: no reader gets one
    /// twice.
    private func leaveReports(to filter: TopicFilter) {
        guard inbox.isWider(filter), let own = inbox.reportFilter, inbox.filters[own] == nil else { return }
        unsubscribe(own)
    }

    /// Subscribes to the broker's reports again if no other filter brings them any more.
    private func takeReports() {
        guard let own = inbox.reportFilter, let qos = inbox.filters[own],
            !established.contains(own) || ending.contains(own)
        else { return }
        connection?.send(.subscribe(own, qos))
    }

    /// The broker has ended a subscription. Until it says so, the connection may break before it knows that it should,
    /// and the next connection has to ask again.
    private func forget(_ filter: TopicFilter) async {
        ending.remove(filter)
        established.remove(filter)
        await inbox.standing?.forgetFormerFilter(filter)
    }

    /// Brings the broker's session in line with the present subscriptions.
    func restoreSubscriptions(over connection: BrokerConnection, sessionPresent: Bool) {
        let wanted = inbox.filters
        if !sessionPresent { established = [] }
        // A process that was killed may have left this in the session.
        if sessionPresent, let own = inbox.reportFilter, wanted[own] == nil { established.insert(own) }
        // It is unknown whether the broker has ended those that a former connection asked it to.
        let unsure = ending
        ending = established.filter { wanted[$0] == nil }
        for filter in ending { connection.send(.unsubscribe(filter)) }
        for (filter, qos) in wanted where !established.contains(filter) || unsure.contains(filter) {
            connection.send(.subscribe(filter, qos))
        }
    }

    /// - Parameter answer: of the broker.
    func note(_ answer: SubscriptionAnswer, to filter: TopicFilter) async {
        guard answer != .ended else { return await forget(filter) }
        let isGranted = answer == .granted
        if inbox.isWider(filter) {
            inbox.note(filter, isGranted: isGranted)
            if !isGranted { takeReports() } else if let own = inbox.reportFilter { release(own) }
        }
        if isGranted {
            established.insert(filter)
            // The subscription may have ended before the answer arrived.
            release(filter)
        } else if inbox.requestedFilters[filter] != nil {
            // No reader misses reports of errors that this broker does not make.
            events.send(.subscriptionRefused(filter))
        }
        for waiting in awaitedAnswers.removeValue(forKey: filter) ?? [] {
            waiting.resume(returning: isGranted)
        }
    }

    /// Resumes subscribers waiting for an answer that the lost connection cannot bring; the next connection
    /// subscribes again.
    func resumeSubscribers() {
        for waiting in awaitedAnswers.values.joined() { waiting.resume(returning: true) }
        awaitedAnswers = [:]
    }
}
