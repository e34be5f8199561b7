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
    private var rescued = 0
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
        var (database, setAside) = try Database.openSettingAsideDamage(
            path: path, migrations: OutboxDatabase.migrations, options: options)
        while true {
            do throws(StorageError) {
                let file = try OutboxFile(database, policy)
                let damaged = try file.openSegments(checkedBytes: options.checkedBytes)
                try file.matchDeadLetters()
                return (file, setAside ?? damaged)
            } catch {
                let hasMessages = (try? OutboxDatabase.hasMessages(database)) ?? false
                database.close()
                guard error.isDamage, hasMessages, setAside == nil else { throw error }
                // Damage of a large one shows when its messages are copied.
                setAside = try Database.setAside(path)
                database = try Database(path: path, migrations: OutboxDatabase.migrations, options: options)
            }
        }
    }

    private init(_ database: Database, _ policy: OutboxPolicy) throws(StorageError) {
        self.database = database
        let mark = try database.first("SELECT mark FROM segments") { UInt64(bitPattern: $0.int64(0)) } ?? 0
        var found: UInt64?
        if try OutboxDatabase.isNew(database) { found = try SegmentLog.mark(at: database.path) }
        log = SegmentLog(
            path: database.path, mark: found ?? mark, segmentBytes: min(max(policy.limitBytes / 64, 4096), 1 << 20))
        // The database was lost, not what is in the segments.
        if let found { try OutboxDatabase.dropMessages(database, adopting: found) }
    }

    /// - Returns: where a damaged segment was moved to.
    private func openSegments(checkedBytes: Int) throws(StorageError) -> String? {
        if try OutboxDatabase.hasMessages(database) {
            do throws(StorageError) {
                return try takeOver()
            } catch {
                // What can still be read of a damaged one is copied otherwise.
                if error.isDamage { _ = try log.clearNames() }
                throw error
            }
        }
        // Something may have prevented it when they were taken over.
        try OutboxDatabase.giveBackRoom(of: database)
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

    /// Copies the messages from the database, where versions before kept them. Until that is finished, they count
    /// there.
    ///
    /// - Returns: where segments that are not this outbox's were moved to.
    private func takeOver() throws(StorageError) -> String? {
        let setAside = try log.clearNames()
        _ = try log.open(synced: 0, checkedBytes: 0)
        let old = OutboxDatabase(database)
        var cursor: Int64 = 0
        var isLast = false
        while !isLast {
            let page = try old.page(after: cursor, limit: 1024, bytes: 1 << 18)
            try log.begin()
            for message in page.messages { try log.append(message) }
            try log.commit()
            cursor = page.messages.last?.id ?? cursor
            isLast = page.isLast
        }
        let (ledger, owner) = (try old.ledger(), try old.owner())
        let letters = try letterNumbers()
        try log.begin()
        if let owner { log.save(owner: owner) }
        for id in letters { log.change(deadLetter: id, isThere: true) }
        log.save(ledger)
        try log.commit()
        killPoint("outbox-takeover-copied")
        try OutboxDatabase.dropMessages(database)
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

    /// The device identifier that the messages were accepted for; `nil` in a new outbox, and in those of versions that
    /// did not record it.
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

    /// Copies the messages that can still be read from a damaged database of a version before, in order and in one
    /// transaction. If it fails, none is copied, and the damaged file still has them.
    ///
    /// - Parameter owner: the device identifier that this outbox is for; messages of another device are not copied.
    /// - Returns: how many messages were rescued, those included that were in damaged segments.
    func rescue(from damaged: String, owner: String?, policy: OutboxPolicy) -> Int {
        guard let old = OutboxDatabase(damaged: damaged, policy) else { return rescued }
        defer { old.database.close() }
        // If the owner is unreadable, the messages are assumed to be this device's.
        if let owner, let former = try? old.owner(), former != owner { return rescued }
        var count = 0
        guard (try? log.begin()) != nil else { return rescued }
        do throws(StorageError) {
            var ledger = log.state.ledger
            // Behind what had been copied when it was found to be damaged.
            let mark = try? old.database.first("SELECT mark FROM segments") { UInt64(bitPattern: $0.int64(0)) }
            var reader = RescueReader(store: old, cursor: mark == log.mark ? log.state.newest : 0)
            while let messages = reader.next() {
                for var message in messages {
                    message.id = ledger.accept(size: message.size)
                    try log.append(message)
                    count += 1
                }
            }
            try log.commit()
        } catch {
            log.rollBack()
            return rescued
        }
        return rescued + count
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
