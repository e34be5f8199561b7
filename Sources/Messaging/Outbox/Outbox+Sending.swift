import Groundwork
import Storage

/// The way of messages to the broker: the ``Messenger`` says where they go and how many, and what has arrived.
extension Outbox {
    /// The most acknowledged messages whose rows have not been removed yet. Each removal waits for the disk, and
    /// nothing is sent meanwhile.
    private static let removalLimit: Int64 = 16_384
    /// How long a removal waits to be written together with other removals or a new message; longer than the period
    /// of a board that samples every second.
    private static let removalDelay = Duration.seconds(2)

    /// Takes messages for the broker, or the reason why there will be none.
    typealias Outlet = @Sendable (Result<[QueuedMessage], MessagingError>) -> Void
    /// Called when there are messages after ``next(limit:bytes:)`` had none left.
    typealias Arrival = @Sendable (isolated Outbox) -> Void

    /// Sends from the oldest message on, and new ones as they are accepted, within the limit of ``send(atMost:)``.
    ///
    /// - Throws: ``MessagingError``
    func begin(_ outlet: @escaping Outlet) throws(MessagingError) {
        // Runs after every call already queued for this actor, so that their messages are sent together.
        try rewind { outbox in Task { outbox.sendArrivals() } }
        self.outlet = outlet
    }

    /// Sends as much as the window allows.
    ///
    /// - Parameter limit: the most messages in flight from now on.
    /// - Throws: ``MessagingError``
    func send(atMost limit: Int) throws(MessagingError) {
        window.limit = sendsAlone ? 1 : limit
        guard let outlet else { return }
        repeat {
            var isLast = false
            repeat {
                if othersAreSent {
                    isLast = true
                } else if window.room > 0 {
                    isLast = try next(limit: window.room, bytes: window.byteRoom).isLast
                }
                let ready = window.ready()
                guard !ready.isEmpty else { continue }
                sent += ready.count
                outlet(.success(ready))
            } while window.room > 0 && !isLast
        } while try endDeferral()
    }

    /// - Parameter id: of a message that is in flight.
    func owner(ofSent id: Int64) -> OutboxShare? { window.weight(of: id)?.share }

    private func sendArrivals() {
        do throws(MessagingError) {
            try send(atMost: window.limit)
        } catch {
            outlet?(.failure(error))
        }
    }

    /// Starts again at the oldest message: messages in flight are sent again, in order.
    ///
    /// - Parameter arrival: called once when there are messages after ``next(limit:bytes:)`` had none left; `nil`
    ///   when there is no connection any more: what is held is then written.
    /// - Throws: ``MessagingError``
    func rewind(arrival: Arrival?) throws(MessagingError) {
        let isLost = arrival == nil && self.arrival != nil
        (self.arrival, outlet) = (arrival, nil)
        // Not after each attempt that failed: readings are written in groups.
        if isLost, !keepsNothing { write() }
        do {
            try removeAcknowledged()
        } catch {
            throw .outboxUnusable(error)
        }
        window = SendWindow(limit: 0)
        sendsAlone = false
        restart()
    }

    /// Returns the next messages in order, first those on the disk.
    ///
    /// - Parameters:
    ///   - limit: the most messages.
    ///   - bytes: no further message is returned once this many bytes are.
    /// - Returns: `isLast` is true when there are no more; `arrival` is then called for the next one.
    func next(limit: Int, bytes: Int) throws(MessagingError) -> (messages: [QueuedMessage], isLast: Bool) {
        guard let store else { throw .outboxClosed(path: path) }
        // There is nothing after the last message returned.
        guard !isDrained, limit > 0 else { return ([], isDrained) }
        var messages: [QueuedMessage] = []
        do throws(StorageError) {
            while messages.isEmpty, cursor < newestRow {
                let page = try store.page(after: cursor, limit: limit, bytes: bytes)
                let now = clock.read()
                let expired = page.messages.filter { hasExpired($0, at: now) }
                if !expired.isEmpty {
                    try change(store) { store throws(StorageError) in try drop(expired, from: store) }
                }
                cursor = page.isLast ? newestRow : page.messages.last?.id ?? cursor
                messages = due(page.messages)
                if !expired.isEmpty { messages.removeAll { message in expired.contains { $0.id == message.id } } }
            }
        } catch {
            throw .outboxUnusable(error)
        }
        if messages.isEmpty {
            // Seconds old at most: their age is not judged.
            let page = held.page(after: cursor, limit: limit, bytes: bytes)
            messages = due(page.messages)
            cursor = page.isLast ? ledger.accepted : page.messages.last?.id ?? cursor
        }
        window.add(messages)
        isDrained = cursor == ledger.accepted
        return (messages, isDrained)
    }

    /// Records messages that the broker has.
    func acknowledge(_ ids: [Int64]) throws(MessagingError) {
        guard !ids.isEmpty else { return }
        killPoint("outbox-acknowledge-told")
        for id in ids {
            guard let weight = window.complete(id) else { continue }
            sendsAlone = false
            ledger.remove(size: weight.size)
            shares?.remove(weight)
            let (wasHeld, finished) = held.remove(id)
            if !wasHeld { acknowledged.insert(id...id) }
            finished?.succeed()
        }
        // Not for every message: a publisher that sends one after the other would set the timer anew for each.
        if held.isEmpty, spillDue > .now + .seconds(1) {
            spill?.cancel()
            spill = nil
        }
        if acknowledged.count >= Self.removalLimit {
            do {
                try removeAcknowledged()
            } catch {
                throw .outboxUnusable(error)
            }
        } else if acknowledged.count > 0, removal == nil {
            removal = Task(executorPreference: thread.tasks) { try await self.removeLater() }
        }
    }

    /// Drops a message that the client library rejects.
    func discard(_ id: Int64) throws(MessagingError) {
        write()
        guard let store, let weight = window.complete(id) else { return }
        do {
            try change(store) { store throws(StorageError) in
                if !held.contains(id) { try store.remove(id...id) }
                ledger.remove(size: weight.size)
                shares?.remove(weight)
                ledger.count(1, droppedAs: .unsendable)
            }
            _ = held.remove(id)
        } catch {
            throw .outboxUnusable(error)
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
        guard acknowledged.count > 0, let store else { return }
        try change(store) { _ in killPoint("outbox-acknowledge-written") }
        killPoint("outbox-acknowledge-committed")
    }
}
