import Cryptography
import Foundation
import Groundwork
import Testing

@testable import Vault

@Suite("Damage to an export")
struct ExportDamageTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.
    private static let headerBytes = 18 + 54 + 7 + 32 + 32

    /// A small export, and the key that scrypt makes for it.
    private func small() async throws -> (bytes: [UInt8], secret: SecretBytes) {
        let vault = try await desk.open()
        try await vault.put(token, "a token")
        _ = try await desk.export(vault)
        let bytes = try desk.exportBytes()
        return (bytes, try await Desk.exportSecret(bytes))
    }

    /// An export of four pieces, in parts: the header, and each piece.
    private func pieces() async throws -> (parts: [[UInt8]], secret: SecretBytes) {
        let desk = try Desk()
        let vault = try await desk.open()
        try await vault.commit([
            .put(token, .token, SecretBytes([UInt8](repeating: 7, count: 200_000)))
        ])
        _ = try await desk.export(vault)
        let bytes = try desk.exportBytes()
        var rest = bytes[...]
        var parts = [rest.take(Self.headerBytes)]
        while !rest.isEmpty { parts.append(rest.take(4 + 65_536 + 16)) }
        return (parts, try await Desk.exportSecret(bytes))
    }

    @Test("an export that is cut off at any byte is found incomplete")
    func cut() async throws {
        let (bytes, secret) = try await small()
        #expect(try Desk.read(bytes, secret).map(\.name) == [token])
        for count in 1..<bytes.count {
            #expect(throws: ExportError.cutShort(path: "export"), "\(count) bytes") {
                try Desk.read(Array(bytes.prefix(count)), secret)
            }
        }
        #expect(throws: ExportError.notAnExport(path: "export")) { try Desk.read([], secret) }
    }

    @Test(
        "an export with any byte changed is refused, and the header says where",
        arguments: [0x01, 0x40, 0x80] as [UInt8])
    func changed(mask: UInt8) async throws {
        let (bytes, secret) = try await small()
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= mask
            let error = #expect(throws: ExportError.self, "byte \(index)") { try Desk.read(changed, secret) }
            switch index {
            case 0..<18: #expect(error?.code == "vault.export-unknown", "byte \(index)")
            case 18..<Self.headerBytes: #expect(error == .damaged(path: "export"), "byte \(index)")
            // A length that is larger than before reaches beyond the end.
            default: #expect(error == .damaged(path: "export") || error == .cutShort(path: "export"))
            }
        }
    }

    @Test("pieces that are swapped, repeated, left out or of another export are refused")
    func moved() async throws {
        let (parts, secret) = try await pieces()
        #expect(parts.count == 5)
        #expect(try Desk.read(parts.flatMap(\.self), secret).map(\.content.count) == [200_000])
        let other = try await pieces()
        let (damaged, cut) = (ExportError.damaged(path: "export"), ExportError.cutShort(path: "export"))
        for (order, error) in [
            ([0, 2, 1, 3, 4], damaged), ([0, 1, 1, 2, 3, 4], damaged), ([0, 1, 3, 4], damaged), ([0, 4], damaged),
            ([0, 1, 2, 3], cut), ([0, 1, 2, 3, 4, 4], .trailingBytes(path: "export")),
        ] {
            #expect(throws: error, "\(order)") { try Desk.read(order.flatMap { parts[$0] }, secret) }
        }
        for place in 1...4 {
            var mixed = parts
            mixed[place] = other.parts[place]
            #expect(throws: damaged) { try Desk.read(mixed.flatMap(\.self), secret) }
        }
        // A header of another export has another salt, so that the passphrase gives another key.
        #expect(throws: ExportError.wrongPassphrase(path: "export")) {
            try Desk.read((other.parts[..<1] + parts[1...]).flatMap(\.self), secret)
        }
        #expect(throws: damaged) {
            try Desk.read((other.parts[..<1] + parts[1...]).flatMap(\.self), other.secret)
        }
    }

    @Test("bytes after the last piece are refused")
    func trailing() async throws {
        let (bytes, secret) = try await small()
        for rest in [[0], [UInt8](repeating: 0, count: 100), bytes] as [[UInt8]] {
            #expect(throws: ExportError.trailingBytes(path: "export")) { try Desk.read(bytes + rest, secret) }
        }
    }

    @Test("another passphrase is told apart from damage")
    func wrongPassphrase() async throws {
        let (bytes, _) = try await small()
        #expect(throws: ExportError.wrongPassphrase(path: "export")) {
            try Desk.read(bytes, SecretBytes([UInt8](repeating: 0, count: 32)))
        }
    }

    @Test(
        "the first line says whether it is an export, and of which version",
        arguments: [
            ("latchkey-export 2\n", ExportError.newerVersion(path: "export", found: 2, supported: 1)),
            ("latchkey-export 10\nanything", .newerVersion(path: "export", found: 10, supported: 1)),
            ("latchkey-export 0\n", .notAnExport(path: "export")),
            ("latchkey-export 01\n", .notAnExport(path: "export")),
            ("latchkey-export +1\n", .notAnExport(path: "export")),
            ("latchkey-export \n", .notAnExport(path: "export")),
            ("latchkey-export 99999999999999999999\n", .notAnExport(path: "export")),
            ("latchkey-export 1\r\n", .notAnExport(path: "export")), ("\n", .notAnExport(path: "export")),
            ("SQLite format 3\0", .notAnExport(path: "export")), ("latchkey-export 1\n", .cutShort(path: "export")),
            (String(repeating: "latchkey-export ", count: 10_000), .notAnExport(path: "export")),
        ])
    func firstLine(text: String, error: ExportError) {
        #expect(throws: error) { try Desk.read(Array(text.utf8), SecretBytes([1])) }
    }

    @Test(
        "parameters of scrypt that cost too much, or are none, are refused before anything is derived",
        arguments: [
            ScryptCost(n: 1 << 30, r: 8, p: 1), ScryptCost(n: 1 << 17, r: 8, p: 1), ScryptCost(n: 1 << 16, r: 9, p: 1),
            ScryptCost(n: 2, r: 1 << 40, p: 1), ScryptCost(n: 1 << 10, r: 8, p: 1000), ScryptCost(n: 1000, r: 8, p: 1),
            ScryptCost(n: 0, r: 8, p: 1), ScryptCost(n: -2, r: 8, p: 1), ScryptCost(n: .min, r: .min, p: .min),
        ])
    func parameters(cost: ScryptCost) async throws {
        let salt = [UInt8](repeating: 1, count: 16)
        let header = ExportHeader(
            Passphrase.Parameters(cost: cost, salt: salt).encoded(), prefix: [UInt8](repeating: 2, count: 7),
            check: [UInt8](repeating: 3, count: 32))
        try desk.writeExport(header.bytes + [UInt8](repeating: 0, count: 100))
        let vault = try await desk.open()
        await #expect(throws: VaultError.export(.parametersRefused(path: desk.exportPath))) {
            try await vault.restore(from: desk.exportPath, passphrase: Desk.passphrase) { _ in false }
        }
    }

    @Test("the word before a piece has a length that a piece can have")
    func heads() {
        typealias Head = ExportFile.PieceHead
        for head in [
            Head(count: 0, isLast: true), Head(count: 65_536, isLast: true), Head(count: 65_536, isLast: false),
        ] {
            #expect(Head(decoding: head.encoded()) == head)
        }
        for bytes in [
            [0, 0, 0, 0], [0, 0, 255, 255], [0, 1, 0, 1], [0x80, 1, 0, 1], [255, 255, 255, 255], [127, 255, 255, 255],
            [],
            [0, 1, 0],
        ] as [[UInt8]] {
            #expect(Head(decoding: bytes) == nil)
        }
    }
}
