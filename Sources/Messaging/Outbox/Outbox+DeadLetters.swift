import FoundationEssentials
import Groundwork
import Storage

/// Dead letters: messages that the broker answers by closing the connection.
extension Outbox {
    /// The dead letters, the oldest first.
    public func deadLetters() -> [DeadLetter] { letters }

    /// A dead letter's payload.
    ///
    /// - Throws: ``MessagingError``: `noSuchDeadLetter`, `outboxUnusable`, `outboxClosed`
    public func payload(ofDeadLetter id: Int64) throws(MessagingError) -> [UInt8] {
        try message(ofDeadLetter: id).payload
    }

    /// Moves a message that is being sent to the dead letters, in one transaction. If there are too many, the oldest
    /// are dropped.
    func makeDeadLetter(_ id: Int64, because reason: String) throws(MessagingError) {
        // Only what is on the disk can be moved there.
        write()
        guard let store, let weight = window.weight(of: id), !held.contains(id) else { return }
        var letter: DeadLetter?
        do throws(StorageError) {
            try change(store) { store throws(StorageError) in
                letter = try store.makeDeadLetter(id, at: clock.read().date, because: reason)
                ledger.remove(size: weight.size)
                ledger.dead += 1
                shares?.remove(weight)
                guard let letter else { return }
                letters.append(letter)
                while let oldest = letters.first, letters.count > 1, isTooMuch(letters) {
                    try drop(oldest, as: .unsendable, from: store)
                }
            }
        } catch {
            throw .outboxUnusable(error)
        }
        window.countOut(id)
        if let letter { events.send(.deadLetter(letter)) }
    }

    /// Accepts a dead letter as a new message, behind all that are waiting.
    ///
    /// - Returns: its new number.
    /// - Throws: ``MessagingError``: `noSuchDeadLetter`, `outboxFull`, `outboxUnusable`, `outboxClosed`
    @discardableResult
    public func retryDeadLetter(_ id: Int64) throws(MessagingError) -> Int64 {
        let message = try message(ofDeadLetter: id)
        guard let store else { throw .outboxClosed(path: path) }
        var answer: Result<[Int64], MessagingError> = .failure(.noSuchDeadLetter(id))
        do throws(StorageError) {
            try change(store, writingHeld: true) { store throws(StorageError) in
                answer = try insert([message], into: store)
                guard case .success = answer else { return }
                try store.removeDeadLetter(id)
                ledger.dead -= 1
                // The old number counts as removed; the message has a new number now.
                ledger.retried += 1
                letters.removeAll { $0.id == id }
            }
        } catch {
            throw .outboxUnusable(error)
        }
        wakeSender()
        return try answer.get()[0]
    }

    /// Discards a dead letter; it counts as dropped.
    ///
    /// - Throws: ``MessagingError``: `noSuchDeadLetter`, `outboxUnusable`, `outboxClosed`
    public func removeDeadLetter(_ id: Int64) throws(MessagingError) {
        guard let store else { throw .outboxClosed(path: path) }
        guard let letter = letters.first(where: { $0.id == id }) else { throw .noSuchDeadLetter(id) }
        do throws(StorageError) {
            try change(store) { store throws(StorageError) in try drop(letter, as: .unsendable, from: store) }
        } catch {
            throw .outboxUnusable(error)
        }
    }

    /// Drops dead letters that have expired. Part of a change.
    func expireDeadLetters(in store: any OutboxStore) throws(StorageError) {
        let now = clock.read()
        for letter in letters where ages.hasWaited(policy.maxAge, letter.id, letter.stamp, at: now) {
            try drop(letter, as: .expired, from: store)
        }
    }

    private func drop(
        _ letter: DeadLetter, as reason: OutboxEvent.DropReason, from store: any OutboxStore
    ) throws(StorageError) {
        try store.removeDeadLetter(letter.id)
        letters.removeAll { $0.id == letter.id }
        ledger.dead -= 1
        ledger.count(1, droppedAs: reason)
    }

    private func isTooMuch(_ letters: [DeadLetter]) -> Bool {
        letters.count > OutboxPolicy.deadLetterLimit || letters.reduce(0) { $0 + $1.bytes } > policy.deadLetterBytes
    }

    private func message(ofDeadLetter id: Int64) throws(MessagingError) -> OutgoingMessage {
        guard let store else { throw .outboxClosed(path: path) }
        do {
            guard let message = try store.deadLetterMessage(id) else { throw MessagingError.noSuchDeadLetter(id) }
            return message
        } catch {
            throw (error as? MessagingError)
                ?? .outboxUnusable(error as? StorageError ?? .refused(path: path, reason: "\(error)"))
        }
    }
}
