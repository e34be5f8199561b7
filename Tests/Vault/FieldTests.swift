import Cryptography
import Testing

@testable import Vault

@Suite("Fields and the manifest")
struct FieldTests {
    @Test("no two lists of fields give the same bytes")
    func unambiguous() {
        func bytes(_ fields: [String]) -> [UInt8] {
            var writer = FieldWriter(purpose: "test")
            for field in fields { writer.append(field) }
            return writer.bytes
        }
        #expect(bytes(["ab", "c"]) != bytes(["a", "bc"]))
        #expect(bytes(["a"]) != bytes(["a", ""]))
    }

    private static let page = {
        var page = ManifestPage(scope: token.scope)
        page.entries[token.name] = RecordEntry(kind: .token, version: 9, key: 0)
        page.entries["device"] = RecordEntry(kind: .privateKey, version: 1, key: 2)
        return page
    }()
    private static let root = {
        var root = ManifestRoot(key: 1)
        (root.generation, root.nextPage) = (9, 4)
        for (id, scope, first) in [(Int64(1), "", ""), (3, "", "m"), (2, "gateway", "")] {
            root.insert(.init(id: id, scope: scope, first: first, count: 2, digest: [UInt8](repeating: 7, count: 32)))
        }
        return root
    }()
    private static let anchoring = {
        var anchoring = Anchoring()
        for number in [ChipIndex.numbers.lowerBound, ChipIndex.numbers.upperBound] {
            anchoring.retire()
            let index = ChipIndex(number: number, primaryName: [0, 0x0B] + [UInt8](repeating: 5, count: 32))
            anchoring.use(Anchor(counter: ChipCounter(index: index), value: .max, date: -1))
        }
        return anchoring
    }()

    @Test("a page and the root of the list of records are read as they were written", arguments: [false, true])
    func roundTrip(hasCounter: Bool) {
        #expect(ManifestPage(decoding: Self.page.encoded()) == Self.page)
        var root = Self.root
        if hasCounter { root.anchoring = Self.anchoring }
        #expect(ManifestRoot(decoding: root.encoded()) == root)
    }

    @Test("a page or a root of the list of records that ends anywhere too early is refused", arguments: [false, true])
    func truncated(hasCounter: Bool) {
        let page = Self.page.encoded()
        var single = ManifestPage(scope: token.scope)
        single.entries["device"] = Self.page.entries["device"]
        // Ends between two entries are whole lists of fewer; the seal keeps those out.
        for count in 0..<page.count where count != single.encoded().count {
            #expect(ManifestPage(decoding: Array(page.prefix(count))) == nil)
        }
        let anchoring = hasCounter ? Self.anchoring : Anchoring()
        var whole = Self.root
        whole.anchoring = anchoring
        let root = whole.encoded()
        let ends = (0...3).map { count in
            var shorter = ManifestRoot(key: 1)
            shorter.anchoring = anchoring
            for page in Self.root.pages.prefix(count) { shorter.insert(page) }
            return shorter.encoded().count
        }
        for count in 0..<root.count where !ends.contains(count) {
            #expect(ManifestRoot(decoding: Array(root.prefix(count))) == nil)
        }
    }

    @Test("a page with an impossible entry is refused", arguments: [(Int64(0), Int64(1)), (-1, 1), (1, -1)])
    func versions(version: Int64, key: Int64) {
        var page = ManifestPage(scope: "")
        page.entries["a"] = RecordEntry(kind: .token, version: version, key: key)
        #expect(ManifestPage(decoding: page.encoded()) == nil)
    }

    @Test(
        "a root with pages that cannot be is refused",
        arguments: [
            (id: Int64(3), scope: "x", first: "", count: 1), (4, "x", "", 1), (0, "x", "", 1), (5, "x", "a", 1),
            (5, "", "", 1), (5, "x", "", 0), (5, "x", "", 65),
        ])
    func pages(id: Int64, scope: String, first: String, count: Int) {
        var root = Self.root
        root.nextPage = id == 4 ? 4 : 6
        root.insert(.init(id: id, scope: scope, first: first, count: count, digest: [UInt8](repeating: 7, count: 32)))
        #expect(ManifestRoot(decoding: root.encoded()) == nil)
    }

    @Test("a field that claims more bytes than there are is refused")
    func overlong() {
        var writer = FieldWriter(purpose: "test")
        writer.append("abc")
        var bytes = writer.bytes
        bytes[bytes.count - 7] = 0xff
        var reader = FieldReader(bytes, purpose: "test")
        #expect(reader != nil)
        #expect(reader?.text() == nil)
        #expect(FieldReader(bytes, purpose: "other") == nil)
    }
}

@Suite("A seal of the vault")
struct SealTests {
    let entry = RecordEntry(kind: .token, version: 1, key: 1)

    @Test("a seal opens only for the vault, name, kind, version and key it was made for")
    func label() throws {
        let (key, text) = (try SecretBytes.random(32), SecretBytes(utf8: "a"))
        let seal = Seal(vaultID: [1], rootKey: try SecretBytes.random(32))
        let sealed = try seal.seal(text, as: token, entry, key: key)
        #expect(try seal.open(sealed, as: token, entry, key: key) == text)
        #expect(try Seal(vaultID: [2], rootKey: seal.rootKey).open(sealed, as: token, entry, key: key) == nil)
        #expect(try seal.open(sealed, as: deviceKey, entry, key: key) == nil)
        #expect(try seal.open(sealed, as: RecordName(scope: "other", name: token.name), entry, key: key) == nil)
        let others = [
            RecordEntry(kind: .state, version: 1, key: 1), RecordEntry(kind: .token, version: 2, key: 1),
            RecordEntry(kind: .token, version: 1, key: 2), RecordEntry(kind: .token, version: 1, key: 0),
        ]
        for other in others { #expect(try seal.open(sealed, as: token, other, key: key) == nil) }
    }

    @Test("a data key is unwrapped only with the root key, for the vault and under the number it was wrapped with")
    func dataKey() throws {
        let seal = Seal(vaultID: [1], rootKey: try SecretBytes.random(32))
        let key = try SecretBytes.random(32)
        let wrapped = try seal.wrap(key, id: 1, .always)
        #expect(try seal.unwrap(wrapped, id: 1, .always) == key)
        #expect(try seal.unwrap(wrapped, id: 2, .always) == nil)
        #expect(try Seal(vaultID: [2], rootKey: seal.rootKey).unwrap(wrapped, id: 1, .always) == nil)
        #expect(try Seal(vaultID: [1], rootKey: key).unwrap(wrapped, id: 1, .always) == nil)
        #expect(try seal.unwrap(seal.wrap(SecretBytes([1]), id: 1, .always), id: 1, .always) == nil)
    }

    @Test("a seal of one thing is never taken for another")
    func purpose() throws {
        let seal = Seal(vaultID: [1], rootKey: try SecretBytes.random(32))
        var page = ManifestPage(scope: "")
        page.entries["a"] = entry
        let (sealedRoot, sealedPage) = (try seal.seal(ManifestRoot(key: 1)), try seal.seal(page, id: 1))
        #expect(try seal.openRoot(sealedRoot) == ManifestRoot(key: 1))
        #expect(try seal.openPage(sealedPage, id: 1) == page)
        #expect(try seal.openRoot(sealedPage) == nil)
        #expect(try seal.openPage(sealedRoot, id: 1) == nil)
        #expect(try seal.openPage(sealedPage, id: 2) == nil)
        #expect(try seal.openManifest(sealedRoot) == nil)
    }
}
