import FoundationEssentials
import Storage

extension OutboxFile {
    func makeDeadLetter(_ id: Int64, at time: Date, because reason: String) throws(StorageError) -> DeadLetter? {
        let scan = try log.scan(1, after: id - 1)
        guard let message = try scan.next(), message.id == id else { return nil }
        let payload = scan.payload(of: message)
        try database.run(
            "INSERT OR REPLACE INTO dead_letter VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", .integer(id),
            .integer(message.acceptedAt), .integer(time.milliseconds), .integer(message.flags),
            .text(message.topic.name), .blob(payload), .text(reason))
        log.change(deadLetter: id, isThere: true)
        remove(id...id)
        return DeadLetter(
            id: id, topic: message.topic, bytes: payload.count,
            stamp: message.stamp, diedAt: time, reason: reason)
    }

    /// Rows with an invalid topic are skipped: only tampering creates them.
    func deadLetters() throws(StorageError) -> [DeadLetter] {
        try database.rows(
            """
            SELECT id, topic, length(payload), accepted_at, died_at, reason FROM dead_letter ORDER BY id
            """
        ) { row -> DeadLetter? in
            guard let topic = try? Topic(row.text(1)), has(row.int64(0)) else { return nil }
            return DeadLetter(
                id: row.int64(0), topic: topic, bytes: Int(row.int64(2)),
                stamp: MessageStamp(storedMilliseconds: row.int64(3)), diedAt: Date(milliseconds: row.int64(4)),
                reason: row.text(5))
        }.compactMap { $0 }
    }

    func deadLetterMessage(_ id: Int64) throws(StorageError) -> OutgoingMessage? {
        guard has(id) else { return nil }
        return try database.first("SELECT topic, payload, flags FROM dead_letter WHERE id = ?1", .integer(id)) { row in
            (try? Topic(row.text(0))).map { OutgoingMessage(topic: $0, payload: row.blob(1), flags: row.int64(2)) }
        } ?? nil
    }

    func removeDeadLetter(_ id: Int64) {
        log.change(deadLetter: id, isThere: false)
        removedLetters.append(id)
    }

    private func has(_ id: Int64) -> Bool { log.state.deadLetters.contains(id) }

    func letterNumbers() throws(StorageError) -> [Int64] {
        try database.rows("SELECT id FROM dead_letter ORDER BY id") { $0.int64(0) }
    }

    /// Deletes what a crash left in the database, and counts as dropped what was lost with a damaged one.
    func matchDeadLetters() throws(StorageError) {
        let there = try letterNumbers()
        for id in there where !has(id) { try database.run("DELETE FROM dead_letter WHERE id = ?1", .integer(id)) }
        let lost = log.state.deadLetters.filter { !there.contains($0) }
        guard !lost.isEmpty else { return }
        try log.begin()
        var ledger = log.state.ledger
        for id in lost { log.change(deadLetter: id, isThere: false) }
        ledger.dead -= Int64(lost.count)
        ledger.count(lost.count, droppedAs: .unsendable)
        log.save(ledger)
        try log.commit()
    }
}
