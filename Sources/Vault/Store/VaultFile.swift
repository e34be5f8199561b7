import Cryptography
import FoundationEssentials
import Storage

/// The vault's file: its schema, its creation, and what its tables have.
struct VaultFile {
    static let migrations = [
        Migration(
            version: 1,
            sql: """
                CREATE TABLE vault (
                    one INTEGER PRIMARY KEY CHECK (one = 1),
                    id BLOB NOT NULL,
                    manifest BLOB NOT NULL
                ) STRICT;
                CREATE TABLE slot (
                    id INTEGER PRIMARY KEY,
                    kind TEXT NOT NULL,
                    created INTEGER NOT NULL, -- milliseconds since 1970, UTC
                    parameters BLOB NOT NULL,
                    wrapped BLOB NOT NULL,
                    digest BLOB NOT NULL
                ) STRICT;
                CREATE TABLE record (
                    scope TEXT NOT NULL,
                    name TEXT NOT NULL,
                    kind TEXT NOT NULL,
                    version INTEGER NOT NULL,
                    sealed BLOB NOT NULL,
                    PRIMARY KEY (scope, name)
                ) STRICT;
                """),
        // The list of records in pages, and data keys below the root key. What `root` has is the list of format 1 until
        // the vault is unlocked.
        Migration(
            version: 2,
            sql: """
                ALTER TABLE vault RENAME COLUMN manifest TO root;
                ALTER TABLE vault ADD COLUMN format INTEGER NOT NULL DEFAULT 1;
                ALTER TABLE vault ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
                CREATE TABLE page (
                    id INTEGER PRIMARY KEY,
                    sealed BLOB NOT NULL
                ) STRICT;
                CREATE TABLE key (
                    id INTEGER PRIMARY KEY,
                    level TEXT NOT NULL,
                    wrapped BLOB NOT NULL
                ) STRICT;
                """),
        // Values in pieces; `draft` has the versions of those that no record names yet.
        Migration(
            version: 3,
            sql: """
                CREATE TABLE piece (
                    scope TEXT NOT NULL,
                    name TEXT NOT NULL,
                    version INTEGER NOT NULL,
                    n INTEGER NOT NULL,
                    sealed BLOB NOT NULL,
                    PRIMARY KEY (scope, name, version, n)
                ) STRICT;
                CREATE TABLE draft (id INTEGER PRIMARY KEY) STRICT;
                """),
    ]

    let database: Database
    var path: String { database.path }

    /// Opens a vault that exists.
    init(at path: String) throws {
        var options = Database.Options()
        options.creates = false
        // Enough for the largest record with its nonce and tag, and for the largest list of format 1.
        options.valueBytes = 8 << 20
        database = try Database(path: path, migrations: Self.migrations, options: options)
    }

    private init(_ database: Database) { self.database = database }

    /// Creates a vault with a new root key, a data key and one slot for each key. The file gets its name only when it is
    /// complete.
    static func create(at path: String, with keys: [NewSlotKey]) throws {
        guard !keys.isEmpty else { throw VaultError.noSlotOpens(path: path, tried: []) }
        let seal = Seal(vaultID: try Random.bytes(Seal.vaultIDBytes), rootKey: try SecretBytes.random(Seal.keyBytes))
        try Database.create(at: path, migrations: migrations) { database in
            let file = VaultFile(database)
            try database.run("INSERT INTO vault (one, id, root) VALUES (1, ?1, x'')", .blob(seal.vaultID))
            try file.write(ManifestRoot(key: file.addKey(.always, seal)), seal)
            for key in keys { _ = try file.insertSlot(for: key, of: seal) }
        }
    }

    func vaultID() throws -> [UInt8] {
        guard let id = try database.first("SELECT id FROM vault", read: { $0.blob(0) }), id.count == Seal.vaultIDBytes
        else { throw VaultError.fileDamaged(path: path, detail: "it does not say which vault it is") }
        return id
    }

    // MARK: Slots

    func storedSlots() throws -> [StoredSlot] {
        try database.rows(
            "SELECT id, kind, created, parameters, wrapped, digest FROM slot ORDER BY id LIMIT ?1",
            .integer(Int64(StoredSlot.limit)),
            read: { row in
                StoredSlot(
                    id: row.int64(0), kind: Slot.Kind(rawValue: row.text(1)),
                    created: Date(millisecondsSince1970: row.int64(2)), parameters: row.blob(3), wrapped: row.blob(4),
                    digest: row.blob(5))
            })
    }

    func slotKinds() throws -> Set<Slot.Kind> {
        Set(try database.rows("SELECT DISTINCT kind FROM slot", read: { Slot.Kind(rawValue: $0.text(0)) }))
    }

    /// - Parameter id: of the slot to replace; `nil` for a new one.
    /// - Returns: the slot as now stored in the file.
    func insertSlot(for key: NewSlotKey, of seal: Seal, replacing id: Int64? = nil) throws -> Slot {
        let label = StoredSlot.label(vaultID: seal.vaultID, kind: key.kind, parameters: key.parameters)
        let wrapped = try AESGCM.seal(seal.rootKey, key: key.wrappingKey, authenticating: label)
        let created = Int64(Date().timeIntervalSince1970 * 1000)
        try database.run(
            "INSERT OR REPLACE INTO slot (id, kind, created, parameters, wrapped, digest) "
                + "VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            id.map(Value.integer) ?? .null, .text(key.kind.rawValue), .integer(created), .blob(key.parameters),
            .blob(wrapped),
            .blob(StoredSlot.digest(kind: key.kind, parameters: key.parameters, wrapped: wrapped)))
        return Slot(
            id: try id ?? database.lastInsertedRow, kind: key.kind, created: Date(millisecondsSince1970: created),
            isDamaged: false)
    }
}

extension Date {
    fileprivate init(millisecondsSince1970 milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
