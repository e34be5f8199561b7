import Cryptography

/// The root of the sealed list of records: which pages it has, and what they have to be.
///
/// Each record is authenticated with its version, but an old row is as genuine as a new one, and a missing row leaves
/// no trace. The pages contain the current version of every record, and the root the digest of every page. Every commit
/// seals the root again, so that no single record or page can be rolled back, removed or added unnoticed.
struct ManifestRoot: Equatable {
    struct Page: Equatable {
        let id: Int64
        let scope: String
        /// The page has the scope's records from this name on, up to the next page's. Empty for the first page of a
        /// scope.
        var first: String
        var count: Int
        /// SHA-256 of the sealed page.
        var digest: [UInt8]
    }

    /// The most records of a vault, which limits the size of the list.
    static let recordLimit = 4096

    private static let purpose = "latchkey manifest root 2"
    /// Of a root with counters.
    private static let anchoredPurpose = "latchkey manifest root 3"

    /// Increases by one with every commit.
    var generation: Int64 = 0
    /// The data key that seals what is written from now on.
    var key: Int64
    /// The number of the next new page; none is used twice.
    var nextPage: Int64 = 1
    /// What shows whether the file is the newest.
    var anchoring = Anchoring()
    /// Sorted by scope and first name.
    private(set) var pages: [Page] = []

    init(key: Int64) { self.key = key }

    /// How many records there are.
    var count: Int { pages.reduce(0) { $0 + $1.count } }

    /// The place of the page which has the record, or to which it would belong.
    func place(of name: RecordName) -> Int? {
        pages.lastIndex { $0.scope == name.scope && $0.first <= name.name }
    }

    mutating func insert(_ page: Page) {
        let place = pages.firstIndex { ($0.scope, $0.first) > (page.scope, page.first) }
        pages.insert(page, at: place ?? pages.endIndex)
    }

    mutating func update(_ id: Int64, count: Int, digest: [UInt8]) {
        guard let place = pages.firstIndex(where: { $0.id == id }) else { return }
        (pages[place].count, pages[place].digest) = (count, digest)
    }

    mutating func remove(_ id: Int64) {
        guard let place = pages.firstIndex(where: { $0.id == id }) else { return }
        let removed = pages.remove(at: place)
        // The next page of the scope takes over the names of the first one.
        if removed.first.isEmpty, place < pages.count, pages[place].scope == removed.scope { pages[place].first = "" }
    }

    // MARK: Bytes

    /// `nil` for bytes that are not from ``encoded()``.
    init?(decoding bytes: [UInt8]) {
        let anchored = FieldReader(bytes, purpose: Self.anchoredPurpose)
        guard var reader = anchored ?? FieldReader(bytes, purpose: Self.purpose), let generation = reader.int64(),
            generation >= 0, let key = reader.int64(), key > 0, let nextPage = reader.int64(), nextPage > 0
        else { return nil }
        (self.generation, self.key, self.nextPage) = (generation, key, nextPage)
        if anchored != nil {
            guard let anchoring = Anchoring(&reader) else { return nil }
            self.anchoring = anchoring
        }
        var ids = Set<Int64>()
        while !reader.isAtEnd {
            guard let id = reader.int64(), (1..<nextPage).contains(id), ids.insert(id).inserted,
                let scope = reader.text(), let first = reader.text(), let count = reader.int64(),
                (1...Int64(ManifestPage.limit)).contains(count), let digest = reader.field(),
                digest.count == SHA256.byteCount, follows(scope: scope, first: first)
            else { return nil }
            pages.append(Page(id: id, scope: scope, first: first, count: Int(count), digest: digest))
        }
        guard self.count <= Self.recordLimit else { return nil }
    }

    /// Whether a page may come after those that there are.
    private func follows(scope: String, first: String) -> Bool {
        guard let last = pages.last, last.scope == scope else {
            return first.isEmpty && pages.last.map { $0.scope < scope } ?? true
        }
        return last.first < first
    }

    func encoded() -> [UInt8] {
        var writer = FieldWriter(purpose: anchoring.isEmpty ? Self.purpose : Self.anchoredPurpose)
        for number in [generation, key, nextPage] { writer.append(number) }
        if !anchoring.isEmpty { anchoring.append(to: &writer) }
        for page in pages {
            writer.append(page.id)
            writer.append(page.scope)
            writer.append(page.first)
            writer.append(Int64(page.count))
            writer.append(page.digest)
        }
        return writer.bytes
    }
}
