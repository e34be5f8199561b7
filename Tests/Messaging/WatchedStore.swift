import FoundationEssentials

@testable import Messaging
@testable import Storage

extension Outbox {
    /// - Returns: where each page began that was read from the disk meanwhile.
    func readPositions(_ body: (Outbox) async throws -> Void) async throws -> [Int64] {
        let watched = WatchedStore(self.store)
        store = watched
        try await body(self)
        store = watched.real
        return watched.positions
    }

    /// Has the next page fail after `body`, which keeps the outbox's thread.
    func failPage(after body: sending @escaping () -> Void) {
        let watched = WatchedStore(store)
        watched.beforeFailedPage = body
        store = watched
    }

    /// Discards a message while the disk fails at first.
    ///
    /// - Returns: what was removed from the disk.
    func discardAfterFailure(_ id: Int64) throws -> [ClosedRange<Int64>] {
        let watched = WatchedStore(self.store)
        watched.failures = 1
        store = watched
        defer { store = watched.real }
        try discard(id)
        return watched.removals
    }
}

/// Tells what is read and removed, and may fail.
final class WatchedStore: OutboxStore {
    let real: any OutboxStore
    /// The next so many transactions fail.
    var failures = 0
    /// Runs before the next page is read, which then fails.
    var beforeFailedPage: (() -> Void)?
    private(set) var positions: [Int64] = []
    private(set) var removals: [ClosedRange<Int64>] = []

    init(_ real: (any OutboxStore)?) { self.real = real ?? OutboxMemory() }

    func page(after id: Int64, limit: Int, bytes: Int) throws(StorageError) -> (messages: [QueuedMessage], isLast: Bool)
    {
        positions.append(id)
        if let beforeFailedPage {
            self.beforeFailedPage = nil
            beforeFailedPage()
            throw .inputOutput(path: "", detail: "as told")
        }
        return try real.page(after: id, limit: limit, bytes: bytes)
    }

    func ledger() throws(StorageError) -> OutboxLedger { try real.ledger() }
    func begin() throws(StorageError) {
        guard failures == 0 else {
            failures -= 1
            throw .inputOutput(path: "", detail: "as told")
        }
        try real.begin()
    }
    func commit() throws(StorageError) { try real.commit() }
    func rollBack() { real.rollBack() }
    func append(_ message: QueuedMessage, acceptedBytes: Int64) throws(StorageError) {
        try real.append(message, acceptedBytes: acceptedBytes)
    }
    func telemetry(after id: Int64, bytes: Int) throws(StorageError) -> [(id: Int64, size: Int)] {
        try real.telemetry(after: id, bytes: bytes)
    }
    func remove(_ ids: ClosedRange<Int64>) throws(StorageError) {
        removals.append(ids)
        try real.remove(ids)
    }
    func removeAll() throws(StorageError) { try real.removeAll() }
    func eraseRemoved() throws(StorageError) { try real.eraseRemoved() }
    func shares() throws(StorageError) -> OutboxShares { try real.shares() }
    func makeDeadLetter(_ id: Int64, at time: Date, because reason: String) throws(StorageError) -> DeadLetter? {
        try real.makeDeadLetter(id, at: time, because: reason)
    }
    func deadLetters() throws(StorageError) -> [DeadLetter] { try real.deadLetters() }
    func deadLetterMessage(_ id: Int64) throws(StorageError) -> OutgoingMessage? { try real.deadLetterMessage(id) }
    func removeDeadLetter(_ id: Int64) throws(StorageError) { try real.removeDeadLetter(id) }
    func save(_ ledger: OutboxLedger) throws(StorageError) { try real.save(ledger) }
    func oldest() throws(StorageError) -> Date? { try real.oldest() }
    func close() { real.close() }
}
