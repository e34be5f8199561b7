/// The sealed list of what is in the vault.
///
/// Each record is authenticated with its version, but an old row is as genuine as a new one, and a missing row leaves
/// no trace. The manifest says which version of which record is the present one; it is sealed anew in every commit, so
/// no record can be put back, removed or added alone.
struct Manifest: Equatable {
    struct Entry: Equatable {
        let kind: RecordKind
        let version: Int64
    }

    /// The most records a vault holds, which bounds the manifest.
    static let limit = 4096

    private static let purpose = "latchkey manifest 1"

    /// Rises by one with every commit.
    var generation: Int64 = 0
    var entries: [RecordName: Entry] = [:]

    init() {}

    /// `nil` for bytes that ``encoded()`` does not give.
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
