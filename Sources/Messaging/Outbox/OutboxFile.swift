import FoundationEssentials
import Glibc
import Groundwork
import Storage

/// An outbox on the disk: the messages in segments (``SegmentLog``), and the content of dead letters in a SQLite
/// database beside them, which has the outbox's own name.
///
/// The segments alone say what there is. A dead letter is in the database before the segments say that the message is
/// one, and is deleted from it after they say that it is not; what a crash leaves in between is deleted at the next
/// start.
final class OutboxFile: OutboxStore {
    let database: Database
    let log: SegmentLog
    /// How many messages could be read of damaged segments.
    private(set) var rescued = 0
    /// The oldest message that waited when it was last asked for.
    private var known: StoredMessage?
    /// Dead letters that the transaction under way removes.
    var removedLetters: [Int64] = []

    /// - Returns: the store, and where a damaged file was moved to.
    static func open(
        at path: String, policy: OutboxPolicy, checkingAll: Bool = false
    ) throws(StorageError) -> (store: OutboxFile, setAside: String?) {
        var options = OutboxDatabase.options(policy)
        if checkingAll { options.checkedBytes = .max }
        let earlier = SetAsideFiles.paths(of: path)
        defer { SetAsideFiles.limit(earlier, of: path) }
        let (database, setAside) = try Database.openSettingAsideDamage(
            path: path, migrations: OutboxDatabase.migrations, options: options)
        do throws(StorageError) {
            let (mark, strange) = try findMark(in: database)
            let file = OutboxFile(database, mark, policy)
            let damaged = try file.openSegments(checkedBytes: options.checkedBytes)
            try file.matchDeadLetters()
            return (file, setAside ?? strange ?? damaged)
        } catch {
            database.close()
            throw error
        }
    }

    private init(_ database: Database, _ mark: UInt64, _ policy: OutboxPolicy) {
        self.database = database
        log = SegmentLog(
            path: database.path, mark: mark, segmentBytes: min(max(policy.limitBytes / 64, 4096), 1 << 20))
    }

    /// - Returns: what each frame of the segments begins with, and where segments of no known outbox were moved to.
    private static func findMark(in database: Database) throws(StorageError) -> (mark: UInt64, setAside: String?) {
        if let known = try OutboxDatabase.mark(in: database) { return (known, nil) }
        // If the database was lost, what is in the segments was not.
        let found = try SegmentLog.mark(at: database.path)
        let setAside = found == nil ? try SegmentLog.setAsideAll(at: database.path) : nil
        let mark = found ?? .random(in: 0 ... .max)
        try OutboxDatabase.adopt(mark: mark, isChecked: found == nil, in: database)
        return (mark, setAside)
    }

    /// - Returns: where a damaged segment was moved to.
    private func openSegments(checkedBytes: Int) throws(StorageError) -> String? {
        let synced = try database.first("SELECT synced FROM segments") { $0.int64(0) } ?? 0
        if synced != 0, try SegmentLog.firstNumbers(at: log.path).isEmpty { return try beginAgain(synced) }
        guard try log.open(synced: synced, checkedBytes: checkedBytes) else { return nil }
        // Should this be interrupted, the next start checks all again.
        if synced >= 0 { try database.run("UPDATE segments SET synced = -1 - synced") }
        let setAside: String?
        (setAside, rescued) = try log.repair()
        killPoint("outbox-repaired")
        try database.run("UPDATE segments SET synced = ?1", .integer(Int64(log.durableNumber)))
        return setAside
    }

    /// After all segments have vanished: goes on with the dead letters, which are in the database.
    ///
    /// - Returns: the name of an empty file that was set aside, by which the loss is reported.
    private func beginAgain(_ synced: Int64) throws(StorageError) -> String {
        // Not the name of a segment, should this be interrupted.
        let note = "\(log.path)-segments"
        _ = try PlainFile(note, creating: true, of: log.path)
        let setAside = try PlainFile.setAside(note)
        unlink(note)
        _ = try log.open(synced: synced, checkedBytes: 0)
        let letters = try letterNumbers()
        try log.begin()
        var ledger = OutboxLedger()
        for id in letters {
            log.change(deadLetter: id, isThere: true)
            (ledger.accepted, ledger.removed) = (id, id)
        }
        ledger.dead = Int64(letters.count)
        // What became of the others is not known.
        ledger.refused = ledger.dead - ledger.removed
        log.save(ledger)
        try log.commit()
        return setAside
    }

    func close() {
        // From the next start on, what is missing up to here is damage and not the trace of a power cut.
        if log.durableNumber > 0 {
            _ = try? database.run("UPDATE segments SET synced = ?1", .integer(Int64(log.durableNumber)))
        }
        database.close()
    }

    func begin() throws(StorageError) {
        removedLetters = []
        try log.begin()
    }

    func rollBack() { log.rollBack() }

    func commit() throws(StorageError) {
        try log.commit()
        for id in removedLetters { _ = try? database.run("DELETE FROM dead_letter WHERE id = ?1", .integer(id)) }
    }

    // MARK: Messages

    func ledger() throws(StorageError) -> OutboxLedger { log.state.ledger }

    func save(_ ledger: OutboxLedger) { log.save(ledger) }

    func append(_ message: QueuedMessage, acceptedBytes: Int64) throws(StorageError) { try log.append(message) }

    func page(after id: Int64, limit: Int, bytes: Int) throws(StorageError) -> (messages: [QueuedMessage], isLast: Bool)
    {
        let scan = try log.scan(0, after: id)
        var messages: [QueuedMessage] = []
        var left = bytes
        while messages.count < limit, left > 0 {
            guard let message = try scan.next() else { return (messages, true) }
            messages.append(
                QueuedMessage(
                    id: message.id,
                    message: OutgoingMessage(
                        topic: message.topic, payload: scan.payload(of: message), flags: message.flags),
                    stamp: message.stamp))
            left -= message.size
        }
        return (messages, false)
    }

    func telemetry(after id: Int64, bytes: Int) throws(StorageError) -> [(id: Int64, size: Int)] {
        let scan = try log.scan(1, after: id)
        var found: [(id: Int64, size: Int)] = []
        var left = bytes
        while left > 0, let message = try scan.next() {
            guard message.isTelemetry else { continue }
            found.append((message.id, message.size))
            left -= message.size
        }
        return found
    }

    func remove(_ ids: ClosedRange<Int64>) { log.remove(ids) }

    func oldest() throws(StorageError) -> Date? {
        if let known, !log.state.removed.contains(known.id) { return known.stamp.time }
        known = try SegmentScan(log, after: 0).next()
        return known?.stamp.time
    }

    func shares() throws(StorageError) -> OutboxShares {
        var shares = OutboxShares([:])
        let scan = try log.scan(1, after: 0)
        while let message = try scan.next() {
            shares.add(OutboxWeight(size: message.size, share: OutboxShare(flags: message.flags)))
        }
        return shares
    }

    // MARK: Owner

    /// The device identifier that the messages were accepted for; `nil` in a new outbox.
    func owner() throws(StorageError) -> String? { log.state.owner }

    func setOwner(_ owner: String) throws(StorageError) {
        try log.begin()
        log.save(owner: owner)
        try log.commit()
    }

    func removeAll() {
        log.isErasing = true
        if log.state.ledger.accepted > 0 { log.remove(1...log.state.ledger.accepted) }
        for id in log.state.deadLetters { removeDeadLetter(id) }
    }

    func eraseRemoved() throws(StorageError) {
        try log.erase()
        try matchDeadLetters()
        try database.checkpoint()
    }
}

extension OutboxShare {
    fileprivate init(flags: Int64) {
        self =
            switch (flags & 8 != 0, flags >> 4) {
            case (false, _): .telemetry
            case (true, 0): .unbounded
            case (true, let user): .user(UInt32(truncatingIfNeeded: user - 1))
            }
    }
}

extension Outbox {
    /// Erases the files of an outbox, which must not be open, with the messages that wait in it and what was set aside.
    public static func remove(at path: String) {
        // Segments without their database would still be found, but not the other way round.
        try? SegmentLog.remove(at: path)
        SetAsideFiles.erase(of: path)
        for ending in ["-wal", "-shm", ""] { SetAsideFiles.remove(path + ending, of: path) }
    }
}
