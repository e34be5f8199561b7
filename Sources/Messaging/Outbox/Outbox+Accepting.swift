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
    /// - Parameter answer: resumed when they are safe, or refused; `nil` for readings that nobody waits for. Those that
    ///   have no room count as dropped.
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
        let now = clock()
        shares = nil
        held.hold(
            messages.map { QueuedMessage(id: ledger.accept(size: $0.size), message: $0, acceptedAt: now) },
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
            try change(store, writingHeld: true) {
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

    /// After a write failed: what somebody waits for is not accepted, although it may have been sent.
    private func withdraw(because error: MessagingError) {
        let later = SuspendingClock.now + max(policy.flush, .seconds(1))
        let groups = held.withdraw(postponingOthersUntil: later) { message in
            weights[message.id] = nil
            ledger.withdraw(size: message.size)
            withdrawn += 1
        }
        for group in groups { group.answer?(.failure(error)) }
    }

    /// Refuses what the broker has not confirmed, where nobody else keeps it (``Durability/broker``).
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
        arrival?()
    }

    /// The counts that fit to the rows.
    var durableLedger: OutboxLedger { ledger.without(held.count, bytes: held.bytes) }

    /// One transaction: removes what is acknowledged, does `body` and writes the sums where they changed. If it
    /// fails, nothing has changed.
    ///
    /// - Parameter writingHeld: whether what is in memory is written too; whatever adds messages has to, so that the
    ///   numbers in memory stay above those on the disk.
    func change(
        _ store: any OutboxStore, writingHeld: Bool = false, _ body: () throws -> Void
    ) throws(StorageError) {
        let (before, lettersBefore) = (ledger, letters)
        do throws(StorageError) {
            try store.transaction {
                for run in acknowledged.sorted().runs { try store.remove(run) }
                if writingHeld { try writeHeld(to: store) }
                try body()
                let ledger = writingHeld ? ledger : durableLedger
                // The number of a message that was held may be lower than what was already counted.
                if ledger.mustBeSaved(after: written) || (writingHeld && !held.isEmpty) { try store.save(ledger) }
            }
        } catch {
            (ledger, letters) = (before, lettersBefore)
            // Counted again when needed.
            shares = nil
            telemetryAfter = 0
            throw error
        }
        acknowledged.removeAll(keepingCapacity: true)
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

    /// Part of a change.
    func insert(
        _ messages: [OutgoingMessage], into store: any OutboxStore
    ) throws(StorageError) -> Result<[Int64], MessagingError> {
        if let refusal = try refusal(of: messages, in: store) { return .failure(refusal) }
        guard try makeRoom(for: messages.reduce(0) { $0 + $1.size }, in: store) else {
            let telemetry = messages.count { $0.kind == .telemetry }
            ledger.refused += Int64(telemetry)
            ledger.count(telemetry, droppedAs: .full)
            return .failure(.outboxFull(limitBytes: policy.limitBytes))
        }
        let now = clock()
        var numbers: [Int64] = []
        for message in messages {
            let id = ledger.accept(size: message.size)
            try store.append(
                QueuedMessage(id: id, message: message, acceptedAt: now), acceptedBytes: ledger.acceptedBytes)
            shares?.add(OutboxWeight(size: message.size, share: message.share))
            numbers.append(id)
        }
        return .success(numbers)
    }

    /// Limits one user to half of the outbox, and all explicit messages to what is not reserved for telemetry.
    private func refusal(
        of messages: [OutgoingMessage], in store: any OutboxStore
    ) throws(StorageError) -> MessagingError? {
        let size = messages.reduce(0) { $0 + $1.size }
        guard ledger.bytes + size > policy.publisherLimit else {
            shares = nil
            return nil
        }
        let shares = if let known = self.shares { known } else { try store.shares() }
        self.shares = shares
        let explicit = messages.reduce(0) { $0 + ($1.share == .telemetry ? 0 : $1.size) }
        // All messages of a request come from one program.
        if let share = messages.first?.share, case .user = share,
            shares.bytes(of: share) + explicit > policy.publisherLimit
        {
            return .outboxShareFull(limitBytes: policy.publisherLimit)
        }
        guard explicit == 0 || shares.explicit + explicit <= policy.limitBytes - policy.telemetryReserve else {
            return .outboxFull(limitBytes: policy.limitBytes)
        }
        return nil
    }

    /// Drops the oldest telemetry that is not being sent until `size` bytes fit.
    ///
    /// - Returns: whether they fit now; if they cannot, nothing was dropped.
    private func makeRoom(for size: Int, in store: any OutboxStore) throws(StorageError) -> Bool {
        let excess = ledger.bytes + size - policy.limitBytes
        guard excess > 0 else { return true }
        let start = max(cursor, telemetryAfter)
        let oldest = try store.telemetry(after: start, bytes: max(excess, policy.slack))
        guard size <= policy.limitBytes, oldest.reduce(0, { $0 + $1.size }) >= excess else {
            telemetryAfter = max(start, (oldest.first?.id ?? ledger.accepted + 1) - 1)
            return false
        }
        for run in oldest.map(\.id).runs { try store.remove(run) }
        for message in oldest {
            ledger.remove(size: message.size)
            shares?.remove(OutboxWeight(size: message.size, share: .telemetry))
        }
        ledger.count(oldest.count, droppedAs: .full)
        telemetryAfter = oldest.last?.id ?? start
        return true
    }

    /// Drops expired messages while nothing is being sent; checks once a minute.
    private func expire(in store: any OutboxStore) throws(StorageError) {
        let instant = ContinuousClock.now
        if let nextAgeCheck, instant < nextAgeCheck { return }
        nextAgeCheck = instant + .seconds(60)
        try expireDeadLetters(in: store)
        var position = cursor
        while true {
            let page = try store.page(after: position, limit: 256, bytes: 1 << 20)
            position = page.messages.last?.id ?? position
            let now = clock()
            let expired = page.messages.prefix { policy.hasExpired($0.acceptedAt, now: now) }
            try drop(Array(expired), from: store)
            guard expired.count == page.messages.count, !page.isLast else { return }
        }
    }
}

extension Outbox {
    /// Drops expired messages. Part of a change.
    func drop(_ expired: [QueuedMessage], from store: any OutboxStore) throws(StorageError) {
        for run in expired.map(\.id).runs { try store.remove(run) }
        for message in expired {
            ledger.remove(size: message.size)
            shares?.remove(message.weight)
        }
        ledger.count(expired.count, droppedAs: .expired)
    }
}

extension Collection<Int64> {
    /// The gapless ranges that these ascending numbers form.
    var runs: [ClosedRange<Int64>] {
        var runs: [ClosedRange<Int64>] = []
        for number in self {
            if let last = runs.last, last.upperBound + 1 == number {
                runs[runs.count - 1] = last.lowerBound...number
            } else {
                runs.append(number...number)
            }
        }
        return runs
    }
}
