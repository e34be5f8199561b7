import FoundationEssentials
import Storage

/// A message in the outbox.
struct QueuedMessage: Sendable, Equatable {
    /// Ascending in the order of acceptance, never used again.
    var id: Int64
    let message: OutgoingMessage
    let stamp: MessageStamp

    init(id: Int64, message: OutgoingMessage, stamp: MessageStamp) {
        (self.id, self.message, self.stamp) = (id, message, stamp)
    }

    init(id: Int64, message: OutgoingMessage, acceptedAt time: Date, isTimeCertain: Bool = true) {
        self.init(id: id, message: message, stamp: MessageStamp(time, isCertain: isTimeCertain))
    }

    var acceptedAt: Date { stamp.time }
    var size: Int { message.size }
}

extension OutgoingMessage {
    /// What the message counts against ``OutboxPolicy/limitBytes``.
    var size: Int { payload.count + topic.name.utf8.count + OutboxPolicy.rowOverhead }
}

/// Storage for the rows of an outbox. Used by one actor, which keeps the counts.
protocol OutboxStore: AnyObject {
    /// The counts as last written, updated from the newest row where that is newer: messages that never were rows are
    /// counted too.
    func ledger() throws(StorageError) -> OutboxLedger
    /// Begins a transaction: what follows is done by ``commit()``, all of it or nothing.
    func begin() throws(StorageError)
    /// If it fails, nothing of the transaction is done.
    func commit() throws(StorageError)
    func rollBack()
    func append(_ message: QueuedMessage, acceptedBytes: Int64) throws(StorageError)
    /// The oldest messages after `id`: at most `limit`, and after the first no more than `bytes` together.
    /// - Returns: `isLast` is true when there are no more.
    func page(after id: Int64, limit: Int, bytes: Int) throws(StorageError) -> (messages: [QueuedMessage], isLast: Bool)
    /// The oldest telemetry after `id` that adds up to `bytes`; all of it if it adds up to less.
    func telemetry(after id: Int64, bytes: Int) throws(StorageError) -> [(id: Int64, size: Int)]
    func remove(_ ids: ClosedRange<Int64>) throws(StorageError)
    /// Removes all messages and dead letters, so that their content cannot be read from the file.
    func removeAll() throws(StorageError)
    /// Overwrites remains of removed rows, such as in a database's log.
    func eraseRemoved() throws(StorageError)
    /// The waiting bytes by owner.
    func shares() throws(StorageError) -> OutboxShares
    /// Makes a message a dead letter; `nil` if there is no such message.
    func makeDeadLetter(_ id: Int64, at time: Date, because reason: String) throws(StorageError) -> DeadLetter?
    func deadLetters() throws(StorageError) -> [DeadLetter]
    func deadLetterMessage(_ id: Int64) throws(StorageError) -> OutgoingMessage?
    func removeDeadLetter(_ id: Int64) throws(StorageError)
    func save(_ ledger: OutboxLedger) throws(StorageError)
    func oldest() throws(StorageError) -> Date?
    func close()
}
