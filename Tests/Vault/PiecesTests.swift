import Cryptography
import Foundation
import Groundwork
import Storage
import Testing

@testable import Vault

@Suite("Values in pieces")
struct PiecesTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.
    private static let large = RecordName(scope: "scope", name: "large")

    /// Bytes that differ from piece to piece.
    static func content(_ count: Int, seed: Int = 0) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ ($0 >> 16) &* 7 &+ seed) }
    }

    /// Writes a value in parts of some bytes.
    private func put(
        _ content: [UInt8], in vault: Vault, as name: RecordName = large, parts: Int = 50_000,
        level: ProtectionLevel = .always
    ) async throws {
        let source = Source(content, parts: parts)
        try await vault.putValue(name, .state, level: level) { await source.next() }
    }

    private func read(_ name: RecordName = large, in vault: Vault) async throws -> [UInt8]? {
        guard let value = try await vault.value(name) else { return nil }
        var content: [UInt8] = []
        for number in 0..<value.pieceCount { content += try await vault.piece(number, of: value).exposed() }
        #expect(content.count == value.count)
        #expect(value.kind == .state)
        return content
    }

    @Test(
        "a value is read as it was written, whatever its length",
        arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 200_001, Pieces.valueLimit])
    func roundTrip(count: Int) async throws {
        let content = Self.content(count)
        let vault = try await desk.open()
        try await put(content, in: vault, parts: count > 1 << 20 ? 300_000 : 50_000)
        #expect(try await read(in: vault) == content)
        await vault.close()
        let again = try await desk.open(creating: false)
        #expect(try await read(in: again) == content)
        #expect(try await again.verify().faults == [])
        #expect(try rows() == (count > Pieces.pieceBytes ? (count + 65_535) / 65_536 : 0))
        try await again.commit([.remove(Self.large)])
        #expect(try await again.value(Self.large) == nil)
        #expect(try rows() == 0)
        #expect(try await again.verify().faults == [])
    }

    @Test("a value that is too large, or whose source fails, leaves the former one, and nothing else")
    func failed() async throws {
        let vault = try await desk.open()
        let former = Self.content(150_000)
        try await put(former, in: vault)
        let error = VaultError.contentTooLong(
            name: Self.large, bytes: Pieces.valueLimit + 1, limit: Pieces.valueLimit)
        await #expect(throws: error) { try await put(Self.content(Pieces.valueLimit + 1), in: vault, parts: 1 << 20) }
        await #expect(throws: CancellationError.self) {
            let source = Source(Self.content(300_000), parts: 100_000)
            try await vault.putValue(Self.large, .state) {
                guard let part = await source.next() else { throw CancellationError() }
                return part
            }
        }
        #expect(try await read(in: vault) == former)
        #expect(try rows() == 3)
        #expect(try await vault.verify().faults == [])
    }

    @Test("a full disk in the middle of a value leaves the former one")
    func fullDisk() async throws {
        let vault = try await desk.open()
        let former = Self.content(150_000)
        try await put(former, in: vault)
        try await vault.limitRoom(pages: 40)
        await #expect(throws: VaultError.storage(.full(path: desk.path))) {
            try await put(Self.content(1 << 20), in: vault)
        }
        #expect(try await read(in: vault) == former)
        #expect(try rows() == 3)
        try await vault.limitRoom(pages: 100_000)
        try await put(Self.content(1 << 20, seed: 9), in: vault)
        #expect(try await read(in: vault) == Self.content(1 << 20, seed: 9))
        #expect(try await vault.verify().faults == [])
    }

    @Test("a value is replaced as a whole, by another value or by a record, and a reader in between is told")
    func replaced() async throws {
        let vault = try await desk.open()
        try await put(Self.content(200_000), in: vault)
        let value = try #require(try await vault.value(Self.large))
        await #expect(throws: VaultError.contentTooLong(name: Self.large, bytes: 200_000, limit: 1 << 20)) {
            try await vault.record(Self.large)
        }
        try await put(Self.content(200_000, seed: 1), in: vault)
        await #expect(throws: VaultError.valueChanged(name: Self.large)) { try await vault.piece(1, of: value) }
        #expect(try await read(in: vault) == Self.content(200_000, seed: 1))
        try await vault.put(Self.large, "small")
        #expect(try rows() == 0)
        #expect(try await vault.text(Self.large) == "small")
        #expect(try await vault.piece(0, of: try #require(try await vault.value(Self.large))).exposedText() == "small")
    }

    @Test("of two values that are written under one name at the same time, one is there as a whole")
    func concurrent() async throws {
        let vault = try await desk.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seed in 0..<4 { group.addTask { try await put(Self.content(400_000, seed: seed), in: vault) } }
            try await group.waitForAll()
        }
        let found = try await read(in: vault)
        #expect((0..<4).contains { Self.content(400_000, seed: $0) == found })
        #expect(try rows() == 7)
        #expect(try await vault.verify().faults == [])
    }

    @Test(
        "a piece that is cut, swapped, repeated, of another value or missing is damage, and harms no other value",
        arguments: [
            "UPDATE piece SET sealed = substr(sealed, 1, 1000) WHERE name = 'large' AND n = 1",
            "UPDATE piece SET sealed = zeroblob(65564) WHERE name = 'large' AND n = 1",
            "UPDATE piece SET n = 3 - n WHERE name = 'large' AND n IN (1, 2)",
            "UPDATE piece SET sealed = (SELECT sealed FROM kept WHERE name = 'large' AND n = 0) "
                + "WHERE name = 'large' AND n = 1",
            "UPDATE piece SET sealed = (SELECT sealed FROM kept WHERE name = 'other' AND n = 1) "
                + "WHERE name = 'large' AND n = 1",
            "DELETE FROM piece WHERE name = 'large' AND n = 1",
        ])
    func tampered(change: String) async throws {
        let other = RecordName(scope: "scope", name: "other")
        let vault = try await desk.open()
        for (seed, name) in [Self.large, other].enumerated() {
            try await put(Self.content(250_000, seed: seed), in: vault, as: name)
        }
        try desk.tamper("CREATE TABLE kept AS SELECT * FROM piece")
        // A swap passes a number that is taken.
        try desk.tamper("CREATE TABLE moved AS SELECT * FROM piece")
        try desk.tamper("DROP TABLE piece")
        try desk.tamper("ALTER TABLE moved RENAME TO piece")
        try desk.tamper(change)
        let value = try #require(try await vault.value(Self.large))
        await #expect(throws: VaultError.recordDamaged(name: Self.large)) { try await vault.piece(1, of: value) }
        #expect(try await vault.piece(0, of: value).count == Pieces.pieceBytes)
        #expect(try await read(other, in: vault) == Self.content(250_000, seed: 1))
        #expect(try await vault.verify().faults == [.recordDamaged(Self.large)])
    }

    @Test("the last piece cannot be left out, and pieces that no record names are found")
    func ends() async throws {
        let vault = try await desk.open()
        try await put(Self.content(250_000), in: vault)
        try desk.tamper("DELETE FROM piece WHERE n = 3")
        let value = try #require(try await vault.value(Self.large))
        await #expect(throws: VaultError.recordDamaged(name: Self.large)) { try await vault.piece(3, of: value) }
        try desk.tamper("UPDATE piece SET name = 'foreign' WHERE n = 2")
        let foreign = RecordName(scope: "scope", name: "foreign")
        #expect(try await vault.verify().faults == [.recordDamaged(Self.large), .pieceUnlisted(foreign)])
    }

    @Test("a value stays readable through new keys, which leave its pieces where they are")
    func rekeyed() async throws {
        let vault = try await desk.open()
        try await put(Self.content(300_000), in: vault)
        let value = try #require(try await vault.value(Self.large))
        #expect(try await vault.rekey().moved == 1)
        #expect(try await vault.piece(4, of: value).exposed() == Array(Self.content(300_000)[262_144...]))
        _ = try await vault.replaceRootKey(for: desk.key, dropping: [])
        #expect(try await read(in: vault) == Self.content(300_000))
        #expect(try await vault.verify().faults == [])
    }

    @Test("an export has values in pieces, and a restore writes them", arguments: [70_000, 1 << 20, 3_000_000])
    func exported(count: Int) async throws {
        let vault = try await desk.open()
        try await put(Self.content(count), in: vault)
        try await vault.put(token, "token")
        #expect(try await desk.export(vault).records == 2)
        let target = try Desk()
        let restored = try await target.restored(from: desk.exportPath)
        #expect(try await read(in: restored) == Self.content(count))
        #expect(try await restored.text(token) == "token")
        #expect(try await restored.verify().faults == [])

        try desk.tamper("DELETE FROM piece WHERE n = 1")
        let partial = try await desk.export(vault, to: desk.directory + "/second")
        #expect(partial.damaged == [Self.large])
        #expect(partial.records == 1)
    }

    @Test("a value behind the passcode is read and written while it is open, and erased with the rest")
    func behindPasscode() async throws {
        let bench = try PasscodeBench()
        let (vault, compartment) = try await bench.filled()
        try await put(Self.content(200_000), in: vault, level: .unlocked)
        let value = try #require(try await vault.value(Self.large))
        try await compartment.lock()
        let locked = VaultError.levelLocked(path: bench.desk.path, level: .unlocked)
        await #expect(throws: locked) { try await vault.piece(0, of: value) }
        await #expect(throws: locked) { try await put(Self.content(200_000), in: vault, level: .unlocked) }
        #expect(try await vault.verify().faults == [])
        try await compartment.erase()
        #expect(try bench.desk.count("piece") == 0)
        #expect(try await vault.verify().faults == [])
    }

    @Test("a kill in the middle of a value leaves the former one, and the next opening removes the rest")
    func killed() async throws {
        let vault = try await desk.open()
        try await put(Self.content(150_000), in: vault)
        await vault.close()
        let note = Self.note(getpid())
        try desk.directory.write(toFile: note, atomically: true, encoding: .utf8)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            let directory = try String(contentsOfFile: Self.note(getppid()), encoding: .utf8)
            let vault = try await Vault.open(
                at: directory + "/vault.db", with: [DevelopmentKeyFile(directory + "/vault.key")], creating: false)
            setenv("LATCHKEY_KILL_AT", "piece-written:2", 1)
            let source = Source(Self.content(500_000), parts: 50_000)
            try await vault.putValue(Self.large, .state) { await source.next() }
        }
        try FileManager.default.removeItem(atPath: note)
        #expect(try rows() == 5)
        let again = try await desk.open(creating: false)
        #expect(try await read(in: again) == Self.content(150_000))
        #expect(try rows() == 3)
        #expect(try await again.verify().faults == [])
    }

    private static func note(_ parent: Int32) -> String {
        FileManager.default.temporaryDirectory.path + "/latchkey-pieces-\(parent)"
    }

    private func rows() throws -> Int { try desk.count("piece") }
}

/// Gives bytes in parts.
private actor Source {
    private var rest: ArraySlice<UInt8>
    private let parts: Int

    init(_ bytes: [UInt8], parts: Int) { (rest, self.parts) = (bytes[...], parts) }

    func next() -> SecretBytes? {
        guard !rest.isEmpty else { return nil }
        defer { rest = rest.dropFirst(parts) }
        return SecretBytes(rest.prefix(parts))
    }
}

extension Vault {
    /// Has the disk look full after some more pages.
    fileprivate func limitRoom(pages: Int64) throws {
        let database = try access().file.database
        let count = try database.first("PRAGMA page_count", read: { $0.int64(0) }) ?? 0
        try database.execute("PRAGMA max_page_count = \(count + pages)")
    }
}

extension Desk {
    fileprivate func count(_ table: String) throws -> Int {
        let database = try Database(path: path, migrations: VaultFile.migrations)
        defer { database.close() }
        return Int(try database.first("SELECT count(*) FROM \(table)", read: { $0.int64(0) }) ?? 0)
    }
}
