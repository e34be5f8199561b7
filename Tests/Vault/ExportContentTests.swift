@_spi(KeyBytes) import Cryptography
import Groundwork
import Testing

@testable import Vault

/// What a holder of the passphrase may have written.
@Suite("Content of an export")
struct ExportContentTests {
    private typealias Entry = (scope: [UInt8], name: [UInt8], kind: String, content: [UInt8])

    private static func entry(_ scope: String, _ name: String, _ kind: String = "token", _ content: [UInt8] = [1])
        -> Entry
    {
        (Array(scope.utf8), Array(name.utf8), kind, content)
    }

    private static func encoded(_ entries: [Entry], purpose: String = ExportFile.purpose) -> [UInt8] {
        var writer = FieldWriter(purpose: purpose)
        for entry in entries {
            writer.append(entry.scope)
            writer.append(entry.name)
            writer.append(entry.kind)
            writer.append(entry.content)
        }
        return writer.bytes
    }

    /// Reads plain text in pieces of some bytes.
    private static func read(_ bytes: [UInt8], pieces: Int = 10_000) throws -> [RecordName] {
        var rest = bytes[...]
        var records = try ExportRecords(
            of: "export", from: { rest.isEmpty ? nil : SecretBytes(rest.take(pieces)) })
        var names: [RecordName] = []
        while let record = try records.next() { names.append(record.name) }
        return names
    }

    private func refused(_ bytes: [UInt8], _ comment: Comment? = nil) {
        let error = #expect(throws: ExportError.self, comment) { try Self.read(bytes) }
        #expect(error?.code == "vault.export-content-invalid", comment)
    }

    @Test("records are read alike however the pieces cut them", arguments: [1, 2, 3, 7, 64, 1000])
    func pieces(count: Int) throws {
        let bytes = Self.encoded([Self.entry("", "a"), Self.entry("", "b", "state", []), Self.entry("s", "a")])
        let names = try Self.read(bytes, pieces: count)
        #expect(
            names == [
                RecordName(scope: "", name: "a"), RecordName(scope: "", name: "b"), RecordName(scope: "s", name: "a"),
            ])
        #expect(try Self.read(Self.encoded([])) == [])
    }

    @Test("content that ends within a record is refused, wherever it ends")
    func cut() {
        let (first, both) = (
            Self.encoded([Self.entry("scope", "a")]),
            Self.encoded([Self.entry("scope", "a"), Self.entry("scope", "b")])
        )
        let ends = [Self.encoded([]).count, first.count, both.count]
        for count in 0..<both.count where !ends.contains(count) { refused(Array(both.prefix(count)), "\(count) bytes") }
    }

    @Test("records that are not sorted, or come twice, are refused")
    func order() {
        refused(Self.encoded([Self.entry("", "b"), Self.entry("", "a")]))
        refused(Self.encoded([Self.entry("", "a"), Self.entry("", "a")]))
        refused(Self.encoded([Self.entry("s", "a"), Self.entry("", "b")]))
    }

    @Test("names and kinds that a vault cannot have are refused")
    func names() {
        for entry in [
            Self.entry("", ""), Self.entry("", "a\u{0}"), Self.entry("", "ä"), Self.entry("\n", "a"),
            Self.entry("", "a", ""), Self.entry("", "a", "ä"), Self.entry("", "a", String(repeating: "k", count: 65)),
            Self.entry("", String(repeating: "n", count: 256)), Self.entry(String(repeating: "s", count: 1025), "a"),
            ([0xFF], [0x61], "token", []), ([], [0xC0, 0x80], "token", []),
        ] {
            refused(Self.encoded([entry]), "\(entry)")
        }
        refused(Self.encoded([], purpose: "latchkey export records 2"))
    }

    @Test("a content over 1 MiB is refused by its length alone")
    func tooLong() {
        var bytes = Self.encoded([Self.entry("", "a", "token", [])])
        bytes.replaceSubrange((bytes.count - 4)..., with: [0x00, 0x10, 0x00, 0x01])
        refused(bytes)
        bytes.replaceSubrange((bytes.count - 4)..., with: [0xFF, 0xFF, 0xFF, 0xFF])
        refused(bytes)
    }

    @Test("more records than a vault has are refused")
    func tooMany() throws {
        let entries = (0...4096).map { Self.entry("", "record-\(10_000 + $0)") }
        #expect(try Self.read(Self.encoded(entries.dropLast())).count == 4096)
        refused(Self.encoded(entries))
    }

    @Test("what has the name of a key is a private key for software, and nothing else is one")
    func keys() throws {
        let key = try PrivateKey(generating: .p256).pkcs8().exposed()
        #expect(try Self.read(Self.encoded([Self.entry("", "software:a", "private-key", key)])).count == 1)
        for entry in [
            Self.entry("", "software:a", "private-key", [1, 2, 3]), Self.entry("", "software:a", "private-key", []),
            Self.entry("", "software:a", "token", key), Self.entry("", "a", "private-key", key),
            Self.entry("", "tpm:a", "private-key", key), Self.entry("", "software:", "private-key", key),
        ] {
            refused(Self.encoded([entry]))
        }
    }

    @Test("pieces without end are read only up to the limit of an export")
    func endless() throws {
        let piece = SecretBytes([UInt8](repeating: 0, count: 65_536))
        var (isFirst, count) = (true, 0)
        var records = try ExportRecords(
            of: "export",
            from: {
                count += 1
                defer { isFirst = false }
                return isFirst ? SecretBytes(Self.encoded([])) : piece
            })
        // Its bytes are empty names, which are not allowed.
        #expect(throws: ExportError.self) { while try records.next() != nil {} }
        #expect(count <= 2)
    }
}
