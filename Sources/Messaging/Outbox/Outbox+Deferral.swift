import Storage

/// One owner's messages wait until those of all others are sent, once.
extension Outbox {
    struct Deferral: Equatable {
        let share: OutboxShare
        /// The newest message that waits, and that others go before: who keeps publishing does not go before for ever.
        let newest: Int64
    }

    /// The broker has hung up on a message of this owner: other owners of messages here need not wait for what comes of
    /// it. Those of one owner stay in their order.
    func letOthersGoFirst(_ share: OutboxShare) { deferral = Deferral(share: share, newest: ledger.accepted) }

    /// Without what waits for others.
    func due(_ messages: [QueuedMessage]) -> [QueuedMessage] {
        guard let deferral else { return messages }
        return messages.filter { $0.message.share != deferral.share }
    }

    /// Whether all that go before were handed to the connection.
    var othersAreSent: Bool { deferral.map { isDrained || cursor >= $0.newest } ?? false }

    /// Starts again at the oldest message once the others are sent: what they were sent for is still there.
    ///
    /// - Returns: whether there may be more to send now.
    /// - Throws: ``MessagingError``
    func endDeferral() throws(MessagingError) -> Bool {
        guard deferral != nil, window.count == 0, othersAreSent else { return false }
        deferral = nil
        do {
            try removeAcknowledged()
        } catch {
            throw .outboxUnusable(error)
        }
        restart()
        (window.limit, sendsAlone) = (1, true)
        return true
    }

    /// Nothing is in flight.
    func restart() {
        window = SendWindow(limit: window.limit)
        (cursor, telemetryAfter, isDrained) = (0, 0, false)
    }
}
