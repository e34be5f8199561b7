/// A part of the sealed list of records: those of one scope, from one name to another.
///
/// A commit seals only the pages again whose records it changes, and a read opens only one.
struct ManifestPage: Equatable {
    /// The most records of a page; one more splits it.
    static let limit = 64

    private static let purpose = "latchkey manifest page 2"

    let scope: String
    /// By the names of the records.
    var entries: [String: RecordEntry] = [:]

    init(scope: String) { self.scope = scope }

    /// `nil` for bytes that are not from ``encoded()``.
    init?(decoding bytes: [UInt8]) {
        guard var reader = FieldReader(bytes, purpose: Self.purpose), let scope = reader.text() else { return nil }
        self.scope = scope
        var last: String?
        while !reader.isAtEnd {
            guard entries.count < Self.limit, let name = reader.text(), last.map({ $0 < name }) ?? true,
                let kind = reader.text(), let version = reader.int64(), version >= 1, let key = reader.int64(), key >= 0
            else { return nil }
            entries[name] = RecordEntry(kind: RecordKind(rawValue: kind), version: version, key: key)
            last = name
        }
        guard last != nil else { return nil }
    }

    func encoded() -> [UInt8] {
        var writer = FieldWriter(purpose: Self.purpose)
        writer.append(scope)
        for (name, entry) in entries.sorted(by: { $0.key < $1.key }) {
            writer.append(name)
            writer.append(entry.kind.rawValue)
            writer.append(entry.version)
            writer.append(entry.key)
        }
        return writer.bytes
    }

    /// Gives the upper half of its records to another page.
    ///
    /// - Returns: that page, and the first of its names.
    mutating func split() -> (page: ManifestPage, first: String) {
        let names = entries.keys.sorted()
        let moved = names[(names.count / 2)...]
        var page = ManifestPage(scope: scope)
        for name in moved { page.entries[name] = entries.removeValue(forKey: name) }
        return (page, moved[moved.startIndex])
    }
}
