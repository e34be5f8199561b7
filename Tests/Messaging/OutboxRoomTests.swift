import Foundation
import Glibc
import Groundwork
import Testing

@testable import Messaging
@testable import Storage

@Suite("The room that an outbox takes, and its end", .timeLimit(.minutes(8)))
struct OutboxRoomTests {
    private let place: OutboxPlace

    init() throws { place = try OutboxPlace() }

    private struct Failure: Error {}

    // MARK: A clean end

    private enum LastAct: CaseIterable { case refusal, failure, emptyTransaction, rewriting, opening }

    @Test(
        "the room that an outbox takes is no damage at the next start, whatever came last", arguments: LastAct.allCases)
    private func cleanEnd(_ last: LastAct) async throws {
        let file = try place.file()
        try file.accept(1...100)
        switch last {
        case .refusal, .failure:
            #expect(throws: Failure.self) {
                try file.transaction {
                    // With more than a frame, or without one that was written.
                    for id in 101...(last == .failure ? 180 : 101) {
                        try file.append(
                            QueuedMessage(id: Int64(id), message: OutboxPlace.message(id), acceptedAt: Date()),
                            acceptedBytes: 0)
                    }
                    throw Failure()
                }
            }
        case .emptyTransaction: try file.transaction {}
        case .rewriting:
            try file.remove(each: 1...3)
            try file.log.rewrite(0)
        case .opening: break
        }
        file.close()
        for _ in 0..<2 {
            let outbox = try await place.open(nil)
            let status = await outbox.status()
            #expect(status.setAside == nil)
            #expect(try await OutboxPlace.waiting(in: outbox) == Array((last == .rewriting ? 4 : 1)...100))
            await outbox.close()
        }
    }

    @Test("the end of an outbox is recorded: a last transaction that has lost its end is damage")
    func lostEnd() async throws {
        let file = try place.file()
        try file.accept(1...10)
        // Several frames.
        try file.acceptTogether(11...100)
        file.close()
        let newest = try #require(try place.segments().last)
        let size = try Data(contentsOf: URL(filePath: newest)).count
        try OutboxPlace.overwrite(newest, [0x59], at: size - 3)
        let outbox = try await place.open(nil)
        #expect(await outbox.status().setAside?.hasPrefix(newest) == true)
        let found = try await OutboxPlace.waiting(in: outbox)
        #expect(found == Array(1...found.count) && (50..<100).contains(found.count))
        await outbox.close()
    }

    @Test("half of a transaction that a kill left is not taken for accepted when damage is repaired")
    func unfinished() async throws {
        let file = try place.file()
        try file.accept(1...10)
        let copy: OutboxPlace
        do {
            var taken: OutboxPlace?
            #expect(throws: Failure.self) {
                try file.transaction {
                    for id in 11...100 {
                        try file.append(
                            QueuedMessage(id: Int64(id), message: OutboxPlace.message(id), acceptedAt: Date()),
                            acceptedBytes: 0)
                    }
                    taken = try place.copy()
                    throw Failure()
                }
            }
            copy = try #require(taken)
        }
        file.close()
        // The third message.
        try OutboxPlace.overwrite(try copy.segments()[0], [0x59], at: 500)
        let outbox = try await copy.open(nil)
        #expect(await outbox.status().setAside != nil)
        let found = try await OutboxPlace.waiting(in: outbox)
        #expect(found.last == 10 && found.count == 9)
        await outbox.close()
    }

    // MARK: A full disk

    @Test(
        "messages leave on a disk that is full, after a write that failed and after a start",
        .enabled(if: geteuid() == 0, "only root may mount"), arguments: [false, true])
    func fullDisk(restarts: Bool) async throws {
        let folder = place.bench.path("disk")
        mkdir(folder, 0o700)
        try #require(mount("tmpfs", folder, "tmpfs", 0, "size=3m") == 0)
        defer { umount2(folder, CInt(MNT_DETACH)) }
        // Segments of 1 MiB.
        let policy = OutboxPolicy(limitBytes: 64 << 20, maxAge: .seconds(1 << 32), telemetryReserve: 0)
        var file = try OutboxFile.open(at: folder + "/outbox.db", policy: policy).store
        try file.acceptTogether(1...600)
        #expect(throws: Failure.self) {
            try file.transaction {
                for id in 601...700 {
                    try file.append(
                        QueuedMessage(id: Int64(id), message: OutboxPlace.message(id), acceptedAt: Date()),
                        acceptedBytes: 0)
                }
                throw Failure()
            }
        }
        if restarts {
            file.close()
            file = try OutboxFile.open(at: folder + "/outbox.db", policy: policy).store
        }
        // Another program takes all that is left.
        let other = open(folder + "/other", O_WRONLY | O_CREAT, 0o600)
        let piece = [UInt8](repeating: 1, count: 4096)
        while write(other, piece, piece.count) > 0 {}
        close(other)
        #expect(throws: StorageError.full(path: folder + "/outbox.db")) {
            try file.acceptTogether(601...3000, bytes: 900)
        }
        for number in stride(from: 2, to: 600, by: 2) { try file.remove(each: [number]) }
        #expect(try file.page(after: 0, limit: .max, bytes: .max).messages.count == 301)
        file.close()
    }

    // MARK: What is read

    @Test("messages that have expired are read once when they are dropped")
    func expiry() async throws {
        var policy = OutboxPolicy(limitBytes: 8 << 20, maxAge: .seconds(3600))
        (policy.spill, policy.flush) = (.zero, .zero)
        try place.file().acceptTogether(1...3000, bytes: 10)
        let clocks = SetClocks(Date() + 7200)
        clocks.clock.confirm()
        let outbox = try await Outbox.open(at: place.path, policy: policy, clock: clocks.clock)
        let positions = try await outbox.readPositions { _ = try await $0.accept(OutboxPlace.message(1)) }
        #expect(
            positions.count >= 3000 / 256 && positions == positions.sorted() && Set(positions).count == positions.count)
        #expect(await outbox.status().dropped.expired == 3000)
        #expect(try await OutboxPlace.waiting(in: outbox) == [1])
        await outbox.close()
    }

    @Test("a message that was held and cannot be sent leaves memory, and nothing on the disk")
    func discarded() async throws {
        let outbox = try await Outbox.open(at: place.path, policy: OutboxPolicy())
        try await outbox.rewind(arrival: { _ in })
        await outbox.offer([try OutboxPlace.message(1, .telemetry)])
        #expect(try await outbox.next(limit: 9, bytes: 1 << 20).messages.map(\.id) == [1])
        #expect(try await outbox.discardAfterFailure(1) == [])
        var status = await outbox.status()
        #expect(status.depth == 0 && status.dropped.unsendable == 1)
        try await outbox.accept(OutboxPlace.message(2))
        await outbox.close()
        let again = try await place.open(nil)
        status = await again.status()
        #expect(status.depth == 1 && status.dropped.unsendable == 1)
        #expect(try await OutboxPlace.waiting(in: again) == [2])
        await again.close()
    }

    // MARK: Its end

    @Test("messages that wait are overwritten when an identity is given up, even after a kill in between")
    func erasure() async throws {
        let outbox = try await place.open()
        for number in 1...100 { try await outbox.accept(OutboxPlace.message(number)) }
        let links = try OutboxPlace()
        for name in try place.bench.segments() { link(place.bench.path(name), links.bench.path(name)) }
        func left() throws -> Int {
            try links.segments().count {
                try Data(contentsOf: URL(filePath: $0)).firstRange(of: Data("xxx".utf8)) != nil
            }
        }
        #expect(try left() == links.segments().count && left() > 1)
        #expect(try await outbox.clear() == 100)
        #expect(try left() == 0)
        #expect(try place.segments().count == 1)
        await outbox.close()
    }

    @Test("messages set aside of a former identity go with its others, now or at the next start")
    func erasureOfDamage() async throws {
        for isNow in [true, false] {
            let place = try OutboxPlace()
            let outbox = try await place.open()
            for number in 1...100 { try await outbox.accept(OutboxPlace.message(number)) }
            await outbox.close()
            try OutboxPlace.overwrite(try place.segments()[0], [0x59], at: 500)
            let again = try await place.open(isSuspect: true)
            let name = try #require(await again.status().setAside)
            #expect(try Data(contentsOf: URL(filePath: name)).firstRange(of: Data("xxx".utf8)) != nil)
            if isNow { try await again.clear() }
            await again.close()
            let next = try await place.open("device-2")
            #expect(try place.damaged() == [])
            #expect(await next.status().setAside == nil)
            await next.close()
        }
    }

    @Test("segments without messages that a kill left are overwritten at the next start")
    func erasureAfterKill() async throws {
        let file = try place.file()
        try file.accept(1...100)
        let kept = try place.copy()
        try file.transaction { file.removeAll() }
        let killed = try place.copy()
        for name in try kept.bench.segments() where !(try killed.bench.segments().contains(name)) {
            try FileManager.default.copyItem(atPath: kept.bench.path(name), toPath: killed.bench.path(name))
        }
        let links = try OutboxPlace()
        for name in try killed.bench.segments().dropLast() {
            link(killed.bench.path(name), links.bench.path(name))
        }
        #expect(try links.segments().count > 1)
        let again = try await killed.open(nil)
        #expect(await again.status().depth == 0)
        for segment in try links.segments() {
            #expect(try Data(contentsOf: URL(filePath: segment)).firstRange(of: Data("xxx".utf8)) == nil)
        }
        await again.close()
        file.close()
    }

    @Test("the count of refused messages is kept below zero too, and nothing is delivered that was not")
    func withdrawn() throws {
        var ledger = OutboxLedger()
        (ledger.accepted, ledger.removed, ledger.refused) = (5, 5, -3)
        let file = try place.file()
        try file.transaction { file.save(ledger) }
        file.close()
        let again = try place.file()
        #expect(try again.ledger() == ledger)
        #expect(try again.ledger().delivered == 2)
        again.close()
    }
}
