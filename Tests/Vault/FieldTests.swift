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

    @Test("a manifest is read as it was written")
    func roundTrip() {
        var manifest = Manifest()
        manifest.generation = 9
        manifest.entries[token] = .init(kind: .token, version: 9)
        manifest.entries[deviceKey] = .init(kind: .privateKey, version: 1)
        #expect(Manifest(decoding: manifest.encoded()) == manifest)
    }

    @Test("a manifest that ends anywhere too early is refused")
    func truncated() {
        var manifest = Manifest()
        manifest.generation = 1
        manifest.entries[token] = .init(kind: .token, version: 1)
        let bytes = manifest.encoded()
        // Ends between two entries are whole manifests of fewer records; the seal keeps those out.
        let empty = Manifest().encoded().count
        for count in 0..<bytes.count where count != empty {
            #expect(Manifest(decoding: Array(bytes.prefix(count))) == nil)
        }
    }

    @Test("a manifest with a version from the future or before the first is refused", arguments: [Int64(0), -1, 3])
    func versions(version: Int64) {
        var manifest = Manifest()
        manifest.generation = 2
        manifest.entries[token] = .init(kind: .token, version: version)
        #expect(Manifest(decoding: manifest.encoded()) == nil)
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
    let entry = Manifest.Entry(kind: .token, version: 1)

    @Test("a seal opens only for the vault, name, kind and version it was made for")
    func label() throws {
        let key = try SecretBytes.random(32)
        let seal = Seal(vaultID: [1], dataKey: key)
        let sealed = try seal.seal(SecretBytes(utf8: "a"), as: token, entry)
        #expect(try seal.open(sealed, as: token, entry) == SecretBytes(utf8: "a"))
        #expect(try Seal(vaultID: [2], dataKey: key).open(sealed, as: token, entry) == nil)
        #expect(try seal.open(sealed, as: deviceKey, entry) == nil)
        #expect(try seal.open(sealed, as: RecordName(scope: "other", name: token.name), entry) == nil)
        #expect(try seal.open(sealed, as: token, Manifest.Entry(kind: .state, version: 1)) == nil)
        #expect(try seal.open(sealed, as: token, Manifest.Entry(kind: .token, version: 2)) == nil)
    }

    @Test("a seal of a record is never taken for a manifest")
    func purpose() throws {
        let seal = Seal(vaultID: [1], dataKey: try SecretBytes.random(32))
        let sealed = try seal.seal(SecretBytes(Manifest().encoded()), as: token, entry)
        #expect(try seal.openManifest(sealed) == nil)
        #expect(try seal.openManifest(seal.seal(Manifest())) == Manifest())
    }
}
