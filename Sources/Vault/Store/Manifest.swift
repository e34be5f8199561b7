/// The sealed list of the records in the vault.
///
/// Each record is authenticated with its version, but an old row is as genuine as a new one, and a missing row leaves
/// no trace. The manifest contains the current version of every record; every commit seals it again, so that no single
/// record can be rolled back, removed or added unnoticed.
struct Manifest: Equatable {
    struct Entry: Equatable {
        let kind: RecordKind
        let version: Int64
    }

    /// The maximum number of records in a vault, which limits the manifest's size.
    static let limit = 4096

    private static let purpose = "latchkey manifest 1"

    /// Increases by one with every commit.
    var generation: Int64 = 0
    var entries: [RecordName: Entry] = [:]

    init() {}

    /// `nil` for bytes that are not from ``encoded()``.
    init?(decoding bytes: [UInt8]) {
        guard var reader = FieldReader(bytes, purpose: Self.purpose), let generation = reader.int64(), generation >= 0
        else { return nil }
        self.generation = generation
        while !reader.isAtEnd {
            guard entries.count < Self.limit, let scope = reader.text(), let name = reader.text(),
                let kind = reader.text(), let version = reader.int64(), (1...max(1, generation)).contains(version)
            else { return nil }
            entries[RecordName(scope: scope, name: name)] = Entry(kind: RecordKind(rawValue: kind), version: version)
        }
    }

    func encoded() -> [UInt8] {
        var writer = FieldWriter(purpose: Self.purpose)
        writer.append(generation)
        for (name, entry) in entries.sorted(by: { $0.key < $1.key }) {
            writer.append(name.scope)
            writer.append(name.name)
            writer.append(entry.kind.rawValue)
            writer.append(entry.version)
        }
        return writer.bytes
    }
}
