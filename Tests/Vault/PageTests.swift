import Cryptography
import Foundation
import Groundwork
import TestSupport
import Testing

@testable import Vault

/// A vault with more records than a page has.
@Suite("Pages of the list of records")
struct PageTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.

    static func name(_ number: Int, in scope: String = "scope") -> RecordName {
        RecordName(scope: scope, name: "record-" + String(10_000 + number))
    }

    /// A closed vault with this many records in one scope, and one in another.
    func fill(_ count: Int) async throws {
        let vault = try await desk.open()
        try await vault.commit((0..<count).map { .put(Self.name($0), .token, SecretBytes(utf8: "\($0)")) })
        try await vault.put(token, "token")
        await vault.close()
    }

    @Test("a page that is damaged while the vault is open harms no record of another page")
    func damagedPage() async throws {
        try await fill(200)
        let vault = try await desk.open(creating: false)
        try desk.tamper("UPDATE page SET sealed = zeroblob(100) WHERE id = 1")
        let fault = VaultError.manifestDamaged(path: desk.path)
        #expect(try await vault.faults() == [fault])
        await #expect(throws: fault) { try await vault.record(Self.name(0)) }
        await #expect(throws: fault) { try await vault.put(Self.name(0), "new") }
        #expect(try await vault.text(Self.name(199)) == "199")
        try await vault.put(Self.name(199), "new")
        #expect(try await vault.text(token) == "token")
        await vault.close()
        await #expect(throws: fault) { try await desk.open(creating: false) }
    }

    @Test(
        "pages that are swapped, put back to an earlier state, taken out or of another vault are noticed",
        arguments: [
            "UPDATE page SET sealed = (SELECT sealed FROM kept WHERE kept.id = 5 - page.id) WHERE id IN (2, 3)",
            "UPDATE page SET sealed = (SELECT sealed FROM kept WHERE kept.id = 1) WHERE id = 1",
            "DELETE FROM page WHERE id = 3",
        ])
    func tampered(change: String) async throws {
        try await fill(200)
        try desk.tamper("CREATE TABLE kept AS SELECT * FROM page")
        let vault = try await desk.open()
        try await vault.put(Self.name(0), "newer")
        await vault.close()
        try desk.tamper(change)
        await #expect(throws: VaultError.manifestDamaged(path: desk.path)) { try await desk.open(creating: false) }
    }

    @Test("a commit writes the pages of what it changes and no other, however many records there are")
    func writtenPages() async throws {
        try await fill(1000)
        let vault = try await desk.open(creating: false)
        func pages() throws -> [[UInt8]] {
            try (1...40).map { try desk.column("SELECT sealed FROM page WHERE id = \($0)") }.filter { !$0.isEmpty }
        }
        let before = Set(try pages())
        try await vault.put(Self.name(500), "new")
        let after = try pages()
        #expect(after.count > 16)
        #expect(after.filter { !before.contains($0) }.count == 1)
    }

    @Test("any changes, with restarts in between, leave what they leave in a dictionary")
    func model() async throws {
        var (chance, model) = (Chance(), [RecordName: String]())
        var vault = try await desk.open()
        for round in 0..<120 {
            let changes = (0..<Int.random(in: 1...40, using: &chance)).map { _ in
                let scope = "scope-\(Int.random(in: 0..<3, using: &chance))"
                let name = Self.name(Int.random(in: 0..<400, using: &chance), in: scope)
                // Phases in which the pages fill, and become empty.
                let isRemoval = Int.random(in: 0..<10, using: &chance) < (round / 30 % 2 == 0 ? 2 : 8)
                model[name] = isRemoval ? nil : "\(round)"
                return isRemoval ? Change.remove(name) : .put(name, .token, SecretBytes(utf8: "\(round)"))
            }
            try await vault.commit(changes)
            if round % 20 == 19 {
                await vault.close()
                vault = try await desk.open(creating: false)
            }
        }
        #expect(try await vault.faults() == [])
        var found = [RecordName: String]()
        for scope in try await vault.scopes() {
            for name in try await vault.names(scope: scope) { found[name] = try await vault.text(name) }
        }
        #expect(found == model)
        try await vault.commit(model.keys.map { .remove($0) })
        #expect(try await vault.scopes() == [])
        #expect(try desk.column("SELECT sealed FROM page").isEmpty)
    }
}
