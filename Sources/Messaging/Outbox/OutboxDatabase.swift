import FoundationEssentials
import Groundwork
import Storage

/// The database of an outbox: the content of dead letters, and whose the segments beside it are.
enum OutboxDatabase {
    static let migrations = [
        Migration(
            version: 3,
            sql: """
                CREATE TABLE dead_letter (
                    id INTEGER PRIMARY KEY,
                    -- Milliseconds since 1970; below zero if that time is not certain.
                    accepted_at INTEGER NOT NULL,
                    died_at INTEGER NOT NULL,
                    -- QoS in bits 0 and 1, retain in bit 2, explicit in bit 3; above it the publisher's user id plus 1, or 0.
                    flags INTEGER NOT NULL, topic TEXT NOT NULL, payload BLOB NOT NULL, reason TEXT NOT NULL
                ) STRICT;
                -- Has no row until the mark is known.
                CREATE TABLE segments (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    -- What each frame of the segments begins with.
                    mark INTEGER NOT NULL,
                    -- A transaction that is known to be on the disk; -1: all segments have to be checked.
                    synced INTEGER NOT NULL
                ) STRICT;
                """)
    ]

    static func options(_ policy: OutboxPolicy) -> Database.Options {
        var options = Database.Options()
        options.cacheKiB = 64
        options.valueBytes = max(options.valueBytes, policy.payloadLimit + (1 << 16))
        return options
    }

    /// The mark of the segments; `nil` in a database that was just made.
    static func mark(in database: Database) throws(StorageError) -> UInt64? {
        try database.first("SELECT mark FROM segments") { UInt64(bitPattern: $0.int64(0)) }
    }

    /// - Parameter isChecked: false if all segments have to be checked.
    static func adopt(mark: UInt64, isChecked: Bool, in database: Database) throws(StorageError) {
        killPoint("outbox-database-begun")
        try database.run(
            "INSERT INTO segments VALUES (1, ?1, ?2)", .integer(Int64(bitPattern: mark)), .integer(isChecked ? 0 : -1))
        killPoint("outbox-database-committed")
    }
}

extension OutgoingMessage {
    /// QoS, retain, kind and publisher as they are stored.
    var flags: Int64 {
        Int64(qos.rawValue | (retain ? 4 : 0) | (kind == .explicit ? 8 : 0))
            | (publisher.map { (Int64($0) + 1) << 4 } ?? 0)
    }

    init(topic: Topic, payload: [UInt8], flags: Int64) {
        self.init(
            topic: topic, payload: payload, qos: QoS(rawValue: Int(flags & 3)) ?? .atLeastOnce, retain: flags & 4 != 0,
            kind: flags & 8 != 0 ? .explicit : .telemetry,
            publisher: flags >> 4 > 0 ? UInt32(truncatingIfNeeded: (flags >> 4) - 1) : nil)
    }
}

extension Date {
    /// From the stored form.
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
    var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }
}
