import Cryptography

/// The list of records while a commit changes it: a page is opened when the first of its records changes, and sealed
/// again at the end.
struct ManifestDraft {
    private(set) var root: ManifestRoot
    private var pages: [Int64: ManifestPage] = [:]
    private let file: VaultFile
    private let seal: Seal

    init(_ root: ManifestRoot, of file: VaultFile, _ seal: Seal) {
        self.root = root
        self.file = file
        self.seal = seal
    }

    mutating func put(_ name: RecordName, _ entry: RecordEntry) throws {
        guard let place = root.place(of: name) else {
            var page = ManifestPage(scope: name.scope)
            page.entries[name.name] = entry
            add(page, from: "")
            return
        }
        let id = root.pages[place].id
        var page = try open(root.pages[place])
        page.entries[name.name] = entry
        if page.entries.count > ManifestPage.limit {
            let (upper, first) = page.split()
            add(upper, from: first)
        }
        change(id, to: page)
    }

    mutating func remove(_ name: RecordName) throws {
        guard let place = root.place(of: name) else { return }
        let id = root.pages[place].id
        var page = try open(root.pages[place])
        guard page.entries.removeValue(forKey: name.name) != nil else { return }
        change(id, to: page)
    }

    /// Seals and writes what was changed.
    mutating func write() throws {
        for (id, page) in pages {
            guard !page.entries.isEmpty else {
                root.remove(id)
                try file.removePage(id)
                continue
            }
            let sealed = try seal.seal(page, id: id)
            root.update(id, count: page.entries.count, digest: SHA256.hash(sealed))
            try file.writePage(id, sealed)
        }
        try file.write(root, seal)
    }

    private func open(_ page: ManifestRoot.Page) throws -> ManifestPage {
        try pages[page.id] ?? file.page(page, seal)
    }

    private mutating func add(_ page: ManifestPage, from first: String) {
        let id = root.nextPage
        root.nextPage += 1
        root.insert(.init(id: id, scope: page.scope, first: first, count: page.entries.count, digest: []))
        pages[id] = page
    }

    private mutating func change(_ id: Int64, to page: ManifestPage) {
        pages[id] = page
        root.update(id, count: page.entries.count, digest: [])
    }
}
