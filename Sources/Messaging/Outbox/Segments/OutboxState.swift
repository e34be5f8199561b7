/// What an outbox holds beside its messages. It is in memory, and each segment begins with it.
struct OutboxState {
    var owner: String?
    var ledger = OutboxLedger()
    /// The newest message that was written. Numbers up to it without a message have left; a newer one that was
    /// counted never was on the disk.
    var newest: Int64 = 0
    /// The messages that have left. Numbers that have no message may be among them.
    var removed = IDRanges()
    /// The dead letters' numbers, ascending. Their content is in the database.
    var deadLetters: [Int64] = []

    mutating func apply(_ record: OutboxRecord) {
        switch record {
        case .message(let message):
            add(message.id, bytes: message.size)
        case .position: break
        case .removal(let ids): removed.insert(ids)
        case .ledger(let ledger): self.ledger = ledger
        case .deadLetter(let id): deadLetters.append(id)
        case .noDeadLetter(let id): deadLetters.removeAll { $0 == id }
        case .owner(let owner): self.owner = owner
        case .beginning:
            let newest = newest
            self = OutboxState()
            self.newest = newest
        }
    }

    /// Counts a message, and the numbers before it that were not written as having left.
    mutating func add(_ id: Int64, bytes: Int) {
        if id > newest + 1 { removed.insert(newest + 1...id - 1) }
        newest = max(newest, id)
        ledger.accepted = max(ledger.accepted, id)
        ledger.acceptedBytes &+= Int64(bytes)
    }
}
