import FoundationEssentials
import Storage

extension OutboxFile {
    func makeDeadLetter(_ id: Int64, at time: Date, because reason: String) throws(StorageError) -> DeadLetter? {
        let row = try database.first(
            "SELECT accepted_at, topic, length(payload) FROM message WHERE id = ?1", .integer(id)
        ) {
            (acceptedAt: $0.int64(0), topic: $0.int64(1), bytes: Int($0.int64(2)))
        }
        guard let row else { return nil }
        let topic = try topic(row.topic)
        try database.run(
            """
            INSERT INTO dead_letter SELECT id, accepted_at, ?2, flags, ?3, payload, ?4 FROM message WHERE id = ?1
            """, .integer(id), .integer(time.milliseconds), .text(topic.name), .text(reason))
        try remove(id...id)
        return DeadLetter(
            id: id, topic: topic, bytes: row.bytes, acceptedAt: Date(milliseconds: row.acceptedAt), diedAt: time,
            reason: reason)
    }

    /// Rows with an invalid topic are skipped: only tampering creates them.
    func deadLetters() throws(StorageError) -> [DeadLetter] {
        try database.rows(
            """
            SELECT id, topic, length(payload), accepted_at, died_at, reason FROM dead_letter ORDER BY id
            """
        ) { row -> DeadLetter? in
            guard let topic = try? Topic(row.text(1)) else { return nil }
            return DeadLetter(
                id: row.int64(0), topic: topic, bytes: Int(row.int64(2)), acceptedAt: Date(milliseconds: row.int64(3)),
                diedAt: Date(milliseconds: row.int64(4)), reason: row.text(5))
        }.compactMap { $0 }
    }

    func deadLetterMessage(_ id: Int64) throws(StorageError) -> OutgoingMessage? {
        try database.first("SELECT topic, payload, flags FROM dead_letter WHERE id = ?1", .integer(id)) { row in
            (try? Topic(row.text(0))).map { OutgoingMessage(topic: $0, payload: row.blob(1), flags: row.int64(2)) }
        } ?? nil
    }

    func removeDeadLetter(_ id: Int64) throws(StorageError) {
        try database.run("DELETE FROM dead_letter WHERE id = ?1", .integer(id))
    }
}
