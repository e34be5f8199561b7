import Groundwork
import Storage

/// The limits of the outbox: who gets room, and what goes to make some.
extension Outbox {
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
        let now = readClock()
        var numbers: [Int64] = []
        for message in messages {
            let id = ledger.accept(size: message.size)
            try store.append(
                QueuedMessage(id: id, message: message, stamp: now), acceptedBytes: ledger.acceptedBytes)
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
    func expire(in store: any OutboxStore) throws(StorageError) {
        let instant = ContinuousClock.now
        if let nextAgeCheck, instant < nextAgeCheck { return }
        nextAgeCheck = instant + .seconds(60)
        try expireDeadLetters(in: store)
        var position = cursor
        while true {
            let page = try store.page(after: position, limit: 256, bytes: 1 << 20)
            position = page.messages.last?.id ?? position
            let now = clock.read()
            let expired = page.messages.prefix { hasExpired($0, at: now) }
            try drop(Array(expired), from: store)
            guard expired.count == page.messages.count, !page.isLast else { return }
        }
    }

    func hasExpired(_ message: QueuedMessage, at now: WatchedClock.Reading) -> Bool {
        ages.hasWaited(policy.maxAge, message.id, message.stamp, at: now)
    }

    /// What the messages are stamped with that are accepted next.
    func readClock() -> MessageStamp {
        let now = clock.read()
        ages.accept(ledger.accepted + 1, at: now)
        return MessageStamp(now.date, isCertain: now.isSettled)
    }

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
