import Groundwork
import Storage

extension Outbox {
    /// Accepts a message. When this returns, the broker or the disk has it.
    ///
    /// - Returns: its number, ascending in the order in which messages are sent.
    /// - Throws: ``MessagingError``: `payloadTooLarge`, `outboxFull`, `outboxShareFull`, `outboxUnusable`,
    ///   `outboxClosed`. The message has then not been accepted; after `outboxUnusable` the broker may have it
    ///   nevertheless, as it may have been on the way.
    @discardableResult
    public func accept(_ message: OutgoingMessage) async throws(MessagingError) -> Int64 {
        try await accept([message])[0]
    }

    /// Accepts several messages, all or none.
    @discardableResult
    public func accept(_ messages: [OutgoingMessage]) async throws(MessagingError) -> [Int64] {
        guard store == nil || !messages.isEmpty else { return [] }
        let result = await withCheckedContinuation { answer in offer(messages) { answer.resume(returning: $0) } }
        return try result.get()
    }

    /// Accepts messages, all or none: holds them in memory, or has them written.
    ///
    /// - Parameter answer: resumed when they are safe, or refused; `nil` for readings that no caller waits for. Those
    ///   that have no room count as dropped.
    public func offer(_ messages: [OutgoingMessage], answering answer: Answer? = nil) {
        if let refusal = refusal(of: messages) {
            answer?(.failure(refusal))
            return
        }
        let size = messages.reduce(0) { $0 + $1.size }
        // Never ahead of messages that are about to be written, and never where a limit has to be judged.
        guard mayHold, requests.isEmpty, held.bytes + size <= OutboxPolicy.heldBytes,
            ledger.bytes + size <= policy.publisherLimit,
            let patience = patience(isAwaited: answer != nil)
        else {
            guard !keepsNothing else {
                answer?(.failure(.outboxFull(limitBytes: min(OutboxPolicy.heldBytes, policy.publisherLimit))))
                return
            }
            requests.append(Request(messages: messages, answer: answer))
            // Runs after every call already queued for this actor, so that they share one sync.
            if requests.count == 1 { Task { write() } }
            return
        }
        let now = readClock()
        shares = nil
        held.hold(
            messages.map { QueuedMessage(id: ledger.accept(size: $0.size), message: $0, stamp: now) },
            due: .now + patience, answer: answer)
        killPoint("outbox-held")
        scheduleSpill()
        wakeSender()
    }

    private func patience(isAwaited: Bool) -> Duration? {
        if keepsNothing { return policy.confirmation }
        // Behind a backlog on the disk no broker has it soon.
        return policy.patience(isAwaited: isAwaited, isConnected: arrival != nil && cursor >= newestRow)
    }

    private func refusal(of messages: [OutgoingMessage]) -> MessagingError? {
        guard store != nil else { return .outboxClosed(path: path) }
        let tooLarge = messages.first { $0.payload.count > policy.payloadLimit }
        return tooLarge.map { .payloadTooLarge(bytes: $0.payload.count, limit: policy.payloadLimit) }
    }

    /// One timer, for the message that is due first.
    private func scheduleSpill() {
        guard let due = held.nextDue, spill == nil || due < spillDue else { return }
        spill?.cancel()
        spillDue = due
        spill = Task(executorPreference: thread.tasks) { await self.spill(at: due) }
    }

    private func spill(at time: SuspendingClock.Instant) async {
        guard (try? await thread.sleep(for: time - .now)) != nil else { return }
        spill = nil
        // Most messages have left before they are due.
        if let due = held.nextDue, due <= .now { write() }
        scheduleSpill()
    }

    /// Writes all that is in memory and all pending requests in one transaction, along with the removals that are due.
    func write() {
        guard !keepsNothing else { return refuseHeld(because: .notConfirmed) }
        guard !requests.isEmpty || !held.isEmpty, let store else { return }
        let due = requests
        requests = []
        let before = ledger
        var answers: [Result<[Int64], MessagingError>] = []
        do throws(StorageError) {
            try change(store, writingHeld: true) { store throws(StorageError) in
                try expire(in: store)
                for request in due { answers.append(try insert(request.messages, into: store)) }
                killPoint("outbox-append-written")
            }
        } catch {
            withdraw(because: .outboxUnusable(error))
            answers = due.map { request in
                if request.answer == nil { countUnwritten(request.messages.count) }
                return .failure(.outboxUnusable(error))
            }
        }
        killPoint("outbox-append-committed")
        for (request, answer) in zip(due, answers) { request.answer?(answer) }
        if ledger.accepted > before.accepted { wakeSender() }
    }

    /// After a write failed: what a caller waits for is not accepted, although it may have been sent.
    private func withdraw(because error: MessagingError) {
        let later = SuspendingClock.now + max(policy.flush, .seconds(1))
        let groups = held.withdraw(postponingOthersUntil: later) { message in
            window.countOut(message.id)
            ledger.withdraw(size: message.size)
            withdrawn += 1
        }
        for group in groups { group.answer?(.failure(error)) }
    }

    /// Refuses what the broker has not confirmed, where nothing else keeps it (``Durability/broker``).
    public func refuseHeld(because error: MessagingError) {
        if keepsNothing { withdraw(because: error) }
    }

    /// Readings that the disk has no room for.
    private func countUnwritten(_ count: Int) {
        let before = ledger
        ledger.refused += Int64(count)
        ledger.count(count, droppedAs: .full)
        report(since: before)
    }

    /// Wakes the sender if it had already seen the last message.
    func wakeSender() {
        guard isDrained else { return }
        isDrained = false
        arrival?(self)
    }

    /// The counts that fit to the rows.
    var durableLedger: OutboxLedger { ledger.without(held.count, bytes: held.bytes) }

    /// One transaction: removes what is acknowledged, does `body` and writes the sums where they changed. If it
    /// fails, nothing has changed.
    ///
    /// - Parameter writingHeld: whether what is in memory is written too; whatever adds messages has to, so that the
    ///   numbers in memory stay above those on the disk.
    func change(
        _ store: any OutboxStore, writingHeld: Bool = false,
        _ body: (any OutboxStore) throws(StorageError) -> Void
    ) throws(StorageError) {
        let (before, lettersBefore) = (ledger, letters)
        do throws(StorageError) {
            try store.begin()
            do throws(StorageError) {
                for run in acknowledged.ranges { try store.remove(run) }
                if writingHeld { try writeHeld(to: store) }
                try body(store)
                let ledger = writingHeld ? ledger : durableLedger
                // The number of a message that was held may be lower than what was already counted.
                if ledger.mustBeSaved(after: written) || (writingHeld && !held.isEmpty) { try store.save(ledger) }
            } catch {
                store.rollBack()
                throw error
            }
            try store.commit()
        } catch {
            (ledger, letters) = (before, lettersBefore)
            // Counted again when needed.
            shares = nil
            telemetryAfter = 0
            throw error
        }
        acknowledged = IDRanges()
        removal?.cancel()
        removal = nil
        if writingHeld {
            newestRow = ledger.accepted
            if !held.isEmpty { killPoint("outbox-spill-committed") }
            for group in held.removeAll() { group.succeed() }
        }
        written = durableLedger
        report(since: before)
    }

    private func writeHeld(to store: any OutboxStore) throws(StorageError) {
        guard !held.isEmpty else { return }
        var total = durableLedger.acceptedBytes
        for message in held.all {
            total += Int64(message.size)
            try store.append(message, acceptedBytes: total)
        }
        killPoint("outbox-spill-written")
    }

    private func report(since before: OutboxLedger) {
        for reason in OutboxEvent.DropReason.allCases {
            let sum = OutboxStatus.Drops.sum(of: reason)
            let (total, former) = (ledger.drops[keyPath: sum], before.drops[keyPath: sum])
            if total > former { events.send(.dropped(count: total - former, reason, total: total)) }
        }
    }
}
