/// What an outbox holds beside its messages. It is in memory, and each segment begins with it.
struct OutboxState {
    var owner: String?
    var ledger = OutboxLedger()
    /// The messages that have left. Numbers that have no message may be among them.
    var removed = IDRanges()
    /// The dead letters' numbers, ascending. Their content is in the database.
    var deadLetters: [Int64] = []

    mutating func apply(_ record: OutboxRecord) {
        switch record {
        case .message(let message):
            ledger.accepted = max(ledger.accepted, message.id)
            ledger.acceptedBytes &+= Int64(message.size)
        case .position: break
        case .removal(let ids): removed.insert(ids)
        case .ledger(let ledger): self.ledger = ledger
        case .deadLetter(let id): deadLetters.append(id)
        case .noDeadLetter(let id): deadLetters.removeAll { $0 == id }
        case .owner(let owner): self.owner = owner
        case .beginning: self = OutboxState()
        }
    }
}
