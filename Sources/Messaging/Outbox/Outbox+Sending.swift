import Groundwork
import Storage

/// The part of the outbox that the ``Messenger`` uses.
extension Outbox {
    /// The most acknowledged messages whose rows have not been removed yet.
    private static let removalLimit = 2048
    /// How long a removal waits to be written together with other removals or a new message; longer than the period
    /// of a board that samples every second.
    private static let removalDelay = Duration.seconds(2)

    /// Starts again at the oldest message: messages in flight are sent again, in order.
    ///
    /// - Parameter arrival: called once when there are messages after ``next(limit:bytes:acknowledging:)`` had none
    ///   left.
    /// - Throws: ``MessagingError``
    func rewind(arrival: (@Sendable () -> Void)?) throws(MessagingError) {
        self.arrival = arrival
        do {
            try removeAcknowledged()
        } catch {
            throw .outboxUnusable(error)
        }
        weights = [:]
        cursor = 0
        telemetryAfter = 0
        isDrained = false
    }

    /// Returns the next messages in order, and records those that the broker has acknowledged.
    ///
    /// - Parameters:
    ///   - limit: the most messages.
    ///   - bytes: no further message is returned once this many bytes are.
    /// - Returns: `isLast` is true when there are no more; `arrival` is then called for the next one.
    func next(
        limit: Int, bytes: Int, acknowledging ids: [Int64]
    ) throws(MessagingError) -> (messages: [QueuedMessage], isLast: Bool) {
        guard let store else { throw .outboxClosed(path: path) }
        do throws(StorageError) {
            try acknowledge(ids)
            // There is nothing after the last message returned.
            if isDrained { return ([], true) }
            while limit > 0 {
                let page = try store.page(after: cursor, limit: limit, bytes: bytes)
                let now = clock()
                let expired = page.messages.filter { policy.hasExpired($0.acceptedAt, now: now) }
                if !expired.isEmpty { try change(store) { try drop(expired, from: store) } }
                isDrained = page.isLast
                cursor = page.messages.last?.id ?? cursor
                let good =
                    expired.isEmpty
                    ? page.messages
                    : page.messages.filter { message in
                        !expired.contains { $0.id == message.id }
                    }
                for message in good { weights[message.id] = message.weight }
                if !good.isEmpty || page.isLast { return (good, page.isLast) }
            }
            return ([], false)
        } catch {
            throw .outboxUnusable(error)
        }
    }

    /// Drops a message that the client library rejects.
    func discard(_ id: Int64) throws(MessagingError) {
        guard let store, let weight = weights.removeValue(forKey: id) else { return }
        do {
            try change(store) {
                try store.remove(id...id)
                ledger.remove(size: weight.size)
                shares?.remove(weight)
                ledger.count(1, droppedAs: .unsendable)
            }
        } catch {
            throw .outboxUnusable(error)
        }
    }

    private func acknowledge(_ ids: [Int64]) throws(StorageError) {
        if !ids.isEmpty { killPoint("outbox-acknowledge-told") }
        for id in ids {
            guard let weight = weights.removeValue(forKey: id) else { continue }
            ledger.remove(size: weight.size)
            shares?.remove(weight)
            acknowledged.append(id)
        }
        if acknowledged.count >= Self.removalLimit {
            try removeAcknowledged()
        } else if !acknowledged.isEmpty, removal == nil {
            removal = Task(executorPreference: thread.tasks) { try await self.removeLater() }
        }
    }

    private func removeLater() async throws {
        try await thread.sleep(for: Self.removalDelay)
        // Canceled if another write came first: it has removed these rows.
        try Task.checkCancellation()
        removal = nil
        // If it fails, the next change tries again; until then the rows stay.
        try? removeAcknowledged()
    }

    func removeAcknowledged() throws(StorageError) {
        guard !acknowledged.isEmpty, let store else { return }
        try change(store) { killPoint("outbox-acknowledge-written") }
        killPoint("outbox-acknowledge-committed")
    }
}
