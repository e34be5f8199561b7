import Cryptography
import Foundation
import Groundwork
import TestSupport
import Testing

@testable import Vault

@Suite("Keys that stay inside")
struct CryptoServiceTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.
    private let text = SecretBytes(utf8: "a text of a program")

    private func stored(_ vault: Vault, _ name: String, _ owner: UInt32) async throws -> SymmetricKey {
        let record = RecordName(scope: CryptoService.scope(of: owner), name: "symmetric:" + name)
        return try #require(try await vault.record(record).flatMap { SymmetricKey(decoding: $0.content) })
    }

    @Test("a text opens with the key of the same name and user ID, after a restart too, and with no other")
    func roundTrip() async throws {
        var vault = try await desk.open()
        var service = CryptoService(vault)
        for owner in [1000, 1001] as [UInt32] { try await service.makeKey("photos", of: owner) }
        try await service.makeKey("notes", of: 1000)
        let sealed = try await service.encrypt(text, with: "photos", of: 1000)
        await vault.close()
        vault = try await desk.open(creating: false)
        service = CryptoService(vault)
        #expect(try await service.decrypt(sealed, with: "photos", of: 1000) == text)
        #expect(try await service.keys(of: 1000) == ["notes", "photos"])
        for (name, owner) in [("photos", 1001), ("notes", 1000)] as [(String, UInt32)] {
            await #expect(throws: FormatError.undecryptable) {
                try await service.decrypt(sealed, with: name, of: owner)
            }
        }
        await #expect(throws: ObjectError.notFound(name: "notes")) {
            try await service.encrypt(text, with: "notes", of: 1001)
        }
    }

    @Test("a reader in Python, which has only the format in common, opens an envelope")
    func python() async throws {
        let vault = try await desk.open()
        let service = CryptoService(vault)
        try await service.makeKey("photos", of: 4_000_000_000)
        let sealed = try await service.encrypt(text, with: "photos", of: 4_000_000_000)
        let key = try await stored(vault, "photos", 4_000_000_000).current
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "read_envelope.py").path
        let words = [
            "-B", script, "4000000000", "photos", Hex.encode(key.id), key.key.withUnsafeBytes { Hex.encode(Array($0)) },
        ]
        let program = Program(url: URL(filePath: "/usr/bin/python3"))
        let result = try await program.run(words, input: Hex.encode(sealed))
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.trimmingCharacters(in: .newlines) == Hex.encode(text.exposed()))
    }

    @Test("an envelope that is cut or changed at any byte does not open, and one of another key neither")
    func tampered() async throws {
        let service = CryptoService(try await desk.open())
        try await service.makeKey("photos", of: 1000)
        let sealed = try await service.encrypt(text, with: "photos", of: 1000)
        for index in sealed.indices {
            var other = sealed
            other[index] ^= 1
            for bytes in [other, Array(sealed.prefix(index))] {
                await #expect(throws: FormatError.undecryptable) {
                    try await service.decrypt(bytes, with: "photos", of: 1000)
                }
            }
        }
        try await service.remove("photos", of: 1000)
        try await service.makeKey("photos", of: 1000)
        await #expect(throws: FormatError.undecryptable) {
            try await service.decrypt(sealed, with: "photos", of: 1000)
        }
    }

    @Test("a key has a new generation after as many texts as allowed, counted across restarts; old texts still open")
    func generations() async throws {
        let vault = try await desk.open()
        func service() -> CryptoService { CryptoService(vault, step: 2, textLimit: 4) }
        try await service().makeKey("photos", of: 1000)
        let first = service()
        var sealed: [[UInt8]] = []
        for _ in 0..<4 { sealed.append(try await first.encrypt(text, with: "photos", of: 1000)) }
        #expect(try await stored(vault, "photos", 1000).generations.count == 1)
        // A restart: what was reserved is not used again.
        let second = service()
        for _ in 0..<3 { sealed.append(try await second.encrypt(text, with: "photos", of: 1000)) }
        let third = service()
        for _ in 0..<1 { sealed.append(try await third.encrypt(text, with: "photos", of: 1000)) }
        let generations = try await stored(vault, "photos", 1000).generations
        #expect(generations.map(\.reserved) == [4, 4, 2])
        let ids = sealed.compactMap { Envelope(parsing: $0)?.keyID }
        #expect(generations.map { generation in ids.count { $0 == generation.id } } == [4, 3, 1])
        for envelope in sealed { #expect(try await third.decrypt(envelope, with: "photos", of: 1000) == text) }
        #expect(Set(sealed).count == sealed.count)
    }

    @Test("texts that are sealed at once are each counted")
    func concurrent() async throws {
        let vault = try await desk.open()
        let service = CryptoService(vault, step: 2, textLimit: 10)
        try await service.makeKey("photos", of: 1000)
        let sealed = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<40 { group.addTask { try await service.encrypt(text, with: "photos", of: 1000) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let generations = try await stored(vault, "photos", 1000).generations
        #expect(generations.map(\.reserved) == [10, 10, 10, 10])
        for generation in generations {
            #expect(sealed.count { Envelope(parsing: $0)?.keyID == generation.id } == 10)
        }
    }

    @Test("a count is on disk once for many texts")
    func commits() async throws {
        let vault = try await desk.open()
        let service = CryptoService(vault)
        try await service.makeKey("photos", of: 1000)
        _ = try await service.encrypt(text, with: "photos", of: 1000)
        let record = RecordName(scope: CryptoService.scope(of: 1000), name: "symmetric:photos")
        let version = try await vault.record(record)?.version
        for _ in 0..<100 { _ = try await service.encrypt(text, with: "photos", of: 1000) }
        #expect(try await vault.record(record)?.version == version)
    }

    @Test("names, sizes and numbers of symmetric keys have limits, and a second removal finds nothing")
    func limits() async throws {
        let service = CryptoService(try await desk.open())
        for name in ["", "A", "a/b", "a.b", "ä", String(repeating: "a", count: 65), "symmetric:a"] {
            await #expect(throws: ObjectError.nameNotAllowed) { try await service.makeKey(name, of: 1000) }
        }
        try await service.makeKey("a", of: 1000)
        await #expect(throws: ObjectError.exists(name: "a")) { try await service.makeKey("a", of: 1000) }
        await #expect(throws: FormatError.emptyText) {
            try await service.encrypt(SecretBytes([]), with: "a", of: 1000)
        }
        let largest = SecretBytes([UInt8](repeating: 7, count: 1 << 20))
        let sealed = try await service.encrypt(largest, with: "a", of: 1000)
        #expect(try await service.decrypt(sealed, with: "a", of: 1000) == largest)
        await #expect(throws: FormatError.tooLong) {
            try await service.encrypt(SecretBytes([UInt8](repeating: 7, count: 1 << 20 + 1)), with: "a", of: 1000)
        }
        try await service.remove("a", of: 1000)
        await #expect(throws: ObjectError.notFound(name: "a")) { try await service.remove("a", of: 1000) }
        for number in 0..<CryptoService.keyLimit { try await service.makeKey("key-\(number)", of: 1000) }
        await #expect(throws: ObjectError.full(limit: CryptoService.keyLimit)) {
            try await service.makeKey("another", of: 1000)
        }
    }

    @Test("a key of the level unlocked seals and opens nothing while the passcode is locked")
    func levels() async throws {
        let bench = try PasscodeBench()
        let (vault, compartment) = try await bench.open()
        try await compartment.set(PasscodeBench.right)
        let service = CryptoService(vault)
        try await service.makeKey("photos", of: 1000, level: .unlocked)
        let sealed = try await service.encrypt(text, with: "photos", of: 1000)
        try await compartment.lock()
        await #expect(throws: VaultError.levelLocked(path: vault.path, level: .unlocked)) {
            try await service.decrypt(sealed, with: "photos", of: 1000)
        }
        await #expect(throws: VaultError.levelLocked(path: vault.path, level: .unlocked)) {
            try await service.encrypt(text, with: "photos", of: 1000)
        }
        try await compartment.unlock(by: PasscodeBench.right)
        #expect(try await service.decrypt(sealed, with: "photos", of: 1000) == text)
    }
}
