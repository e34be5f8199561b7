/// The sealed list of records of format 1, in one piece, which version 0.1.0 has written. It is read once, and kept as
/// ``ManifestRoot`` and ``ManifestPage`` from then on.
struct Manifest: Equatable {
    private static let purpose = "latchkey manifest 1"

    let generation: Int64
    private(set) var entries: [RecordName: RecordEntry] = [:]

    /// `nil` for bytes that are not such a list.
    init?(decoding bytes: [UInt8]) {
        guard var reader = FieldReader(bytes, purpose: Self.purpose), let generation = reader.int64(), generation >= 0
        else { return nil }
        self.generation = generation
        while !reader.isAtEnd {
            guard entries.count < ManifestRoot.recordLimit, let scope = reader.text(), let name = reader.text(),
                let kind = reader.text(), let version = reader.int64(), (1...max(1, generation)).contains(version)
            else { return nil }
            entries[RecordName(scope: scope, name: name)] = RecordEntry(
                kind: RecordKind(rawValue: kind), version: version, key: Seal.rootKeyID)
        }
    }
}
