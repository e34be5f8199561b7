import Foundation
import Storage
import Synchronization

@testable import Messaging

/// An outbox's store whose disk is full until ``Space`` says otherwise.
final class FullStore: OutboxStore {
    /// Whether the disk has room, as a test says.
    final class Space: Sendable {
        private let isThere = Atomic(false)

        var isFull: Bool { !isThere.load(ordering: .acquiring) }

        func makeRoom() { isThere.store(true, ordering: .releasing) }
    }

    private let store: any OutboxStore
    private let space: Space

    init(_ store: any OutboxStore, _ space: Space) { (self.store, self.space) = (store, space) }

    func begin() throws(StorageError) {
        guard !space.isFull else { throw .full(path: "disk") }
        try store.begin()
    }
    func commit() throws(StorageError) { try store.commit() }
    func rollBack() { store.rollBack() }

    func ledger() throws(StorageError) -> OutboxLedger { try store.ledger() }
    func append(_ message: QueuedMessage, acceptedBytes: Int64) throws(StorageError) {
        try store.append(message, acceptedBytes: acceptedBytes)
    }
    func page(after id: Int64, limit: Int, bytes: Int) throws(StorageError) -> (messages: [QueuedMessage], isLast: Bool)
    {
        try store.page(after: id, limit: limit, bytes: bytes)
    }
    func telemetry(after id: Int64, bytes: Int) throws(StorageError) -> [(id: Int64, size: Int)] {
        try store.telemetry(after: id, bytes: bytes)
    }
    func remove(_ ids: ClosedRange<Int64>) throws(StorageError) { try store.remove(ids) }
    func removeAll() throws(StorageError) { try store.removeAll() }
    func eraseRemoved() throws(StorageError) { try store.eraseRemoved() }
    func shares() throws(StorageError) -> OutboxShares { try store.shares() }
    func makeDeadLetter(_ id: Int64, at time: Date, because reason: String) throws(StorageError) -> DeadLetter? {
        try store.makeDeadLetter(id, at: time, because: reason)
    }
    func deadLetters() throws(StorageError) -> [DeadLetter] { try store.deadLetters() }
    func deadLetterMessage(_ id: Int64) throws(StorageError) -> OutgoingMessage? { try store.deadLetterMessage(id) }
    func removeDeadLetter(_ id: Int64) throws(StorageError) { try store.removeDeadLetter(id) }
    func save(_ ledger: OutboxLedger) throws(StorageError) { try store.save(ledger) }
    func oldest() throws(StorageError) -> Date? { try store.oldest() }
    func close() { store.close() }
}

extension Outbox {
    /// From now on its disk is full, until there is room again.
    func failWrites() throws -> FullStore.Space {
        guard let store else { throw MessagingError.outboxClosed(path: path) }
        let space = FullStore.Space()
        self.store = FullStore(store, space)
        return space
    }
}
