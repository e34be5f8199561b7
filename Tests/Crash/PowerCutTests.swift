import Cryptography
import Foundation
import Glibc
import Storage
import TestSupport
import Testing

@testable import Messaging
@testable import Vault

/// `CUTS=15000 deploy/test CrashTests.PowerCutTests` for a night; `SEED` for the same chance.
@Suite("A power cut", .serialized, .enabled(if: PowerCutDisk.obstacle == nil, PowerCutDisk.obstacle ?? "possible"))
struct PowerCutTests {
    private static let cuts = count("CUTS", preset: 200)

    @Test(
        "a power cut takes from a plain file what was not synced and nothing else: the tests' disk does so")
    func plainFile() async throws {
        try await withPowerCutDisk { disk, _ in
            var (lost, torn) = (0, 0)
            let content = Data(repeating: 0x41, count: 20_000)
            for seed in 0..<20 as Range<UInt64> {
                try write(content, to: "\(disk.path)/synced-\(seed)", syncing: true)
                try write(content, to: "\(disk.path)/unsynced", syncing: false)
                try disk.restart(seed: seed)
                for earlier in 0...seed {
                    #expect(try Data(contentsOf: URL(filePath: "\(disk.path)/synced-\(earlier)")) == content)
                }
                let left = try? Data(contentsOf: URL(filePath: "\(disk.path)/unsynced"))
                if left == nil { lost += 1 } else if left != content { torn += 1 }
                unlink("\(disk.path)/unsynced")
                try syncFolder(disk.path)
            }
            #expect(lost > 0)
            #expect(torn > 0)
        }
    }

    @Test("a power cut takes rows from a database that does not sync: a store that forgot to would be found")
    func withoutSync() async throws {
        try await withPowerCutDisk { disk, _ in
            var lost = 0
            for seed in 0..<20 as Range<UInt64> {
                let path = "\(disk.path)/\(seed).db"
                do {
                    let database = try Database(path: path, migrations: Self.notes)
                    try database.execute("PRAGMA synchronous = OFF")
                    for number in 1...50 as ClosedRange<Int64> {
                        try database.run("INSERT INTO note VALUES (?1)", .integer(number))
                    }
                    try disk.cut(after: 1)
                    #expect(throws: StorageError.self) { try database.run("INSERT INTO note VALUES (51)") }
                    database.close()
                }
                try disk.restart(seed: seed)
                let left = try? Database(path: path, migrations: Self.notes).first("SELECT count(*) FROM note") {
                    $0.int64(0)
                }
                if (left ?? 0) < 50 { lost += 1 }
            }
            #expect(lost > 5)
        }
    }

    private static let notes = [Migration(version: 1, sql: "CREATE TABLE note (id INTEGER PRIMARY KEY) STRICT")]

    @Test(
        "a power cut takes nothing from vault and outbox that was accepted, and leaves nothing half written",
        .timeLimit(.minutes(1440)))
    func stores() async throws {
        var chance = Chance()
        try await withPowerCutDisk { disk, folder in
            var stores = Stores(disk: disk.path, keys: folder)
            let start = ContinuousClock.now
            for cut in 1...Self.cuts {
                // Some strike while the stores are opened, and the first while they are made.
                let changes =
                    chance.happens(0.1)
                    ? Int.random(in: 1...12, using: &chance) : Int.random(in: 1...250, using: &chance)
                try disk.cut(after: changes)
                await stores.work(&chance)
                #expect(try !disk.isOn, "cut \(cut) of seed \(chance.seed): \(stores.lastError ?? "")")
                let survived = try disk.restart(seed: chance.next() >> 1)
                let faults = await stores.check()
                #expect(faults.isEmpty, "cut \(cut) of seed \(chance.seed): \(survived): \(faults)")
                guard faults.isEmpty else { return }
            }
            let seconds = (ContinuousClock.now - start).components.seconds
            print(
                """
                power cuts: \(Self.cuts), seed \(chance.seed), \(seconds) s; messages accepted \(stores.accepted), lost 0, \
                sent again \(stores.sentAgain), unknown ones found \(stores.unknownFound); vault commits \(stores.commits), \
                rewraps \(stores.rewraps), lost 0
                """)
            #expect(stores.accepted > Self.cuts)
            #expect(stores.commits > Self.cuts)
        }
    }

    private func write(_ content: Data, to path: String, syncing: Bool) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Unexpected("cannot make \(path): \(errno)") }
        defer { close(descriptor) }
        let count = content.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count == content.count, !syncing || fsync(descriptor) == 0 else {
            throw Unexpected("cannot write \(path)")
        }
        if syncing { try syncFolder(String(path[..<path.lastIndex(of: "/")!])) }
    }

    private func syncFolder(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw Unexpected("cannot sync \(path)") }
    }
}
