import Foundation
import Testing

@testable import Messaging
@testable import Storage

@Suite("Loss and damage of an outbox", .timeLimit(.minutes(8)))
struct OutboxLossTests {
    private let place: OutboxPlace

    init() throws { place = try OutboxPlace() }

    private func waiting(_ owner: String? = "device-1", in place: OutboxPlace) async throws -> [Int] {
        let outbox = try await place.open(owner)
        let (numbers, status) = (try await OutboxPlace.waiting(in: outbox), await outbox.status())
        #expect(status.depth == numbers.count)
        await outbox.close()
        return numbers
    }

    // MARK: A new segment whose name may not be on the disk

    @Test(
        "a segment whose folder cannot be synced keeps accepted messages, and no more are accepted until it can",
        arguments: [false, true])
    func unsyncedName(hasNoMessages: Bool) async throws {
        let place = place
        let (accepted, refused) = try await DescriptorTable.withOwn { table in
            let file = try place.file()
            defer { file.close() }
            var next = 1
            if hasNoMessages {
                // What has left fills a segment that has no message.
                try file.acceptTogether(1...3000, bytes: 10)
                try file.remove(each: stride(from: 2, to: 2800, by: 2))
                next = 3001
            } else {
                while file.log.segments[file.log.segments.count - 1].bytes < 4096 {
                    try file.accept([next])
                    next += 1
                }
            }
            var accepted = Array(1..<next).filter { !hasNoMessages || $0 % 2 == 1 || $0 >= 2800 }
            var refused = 0
            // One for the new segment, none for the folder.
            let old = file.log.file
            table.leave(1)
            for _ in 0..<5 {
                do {
                    try file.accept([next])
                    accepted.append(next)
                    next += 1
                } catch {
                    refused += 1
                }
            }
            withExtendedLifetime(old) {}
            table.free()
            try file.accept([next])
            return (accepted + [next], refused)
        }
        #expect(refused == 5)
        #expect(try await waiting(in: place) == accepted)
        #expect(try place.damaged() == [])
    }

    // MARK: A database that does not fit to the segments

    @Test("an outbox that was lost is made anew; a kill while it learns of the segments loses nothing")
    func lostTwice() async throws {
        try place.file().accept(1...50)
        place.loseDatabase()
        do {
            let database = try Database(path: place.path, migrations: OutboxDatabase.migrations)
            let mark = try #require(try SegmentLog.mark(at: place.path))
            try OutboxDatabase.adopt(mark: mark, isChecked: false, in: database)
            database.close()
        }
        #expect(try await waiting(in: place) == Array(1...50))
    }

    @Test(
        "a lost outbox beside segments with damaged first frames learns whose they are from other frames")
    func lostAndDamaged() async throws {
        try place.file().accept(1...200)
        place.loseDatabase()
        for segment in try place.segments() { try OutboxPlace.overwrite(segment, [0x58], at: 40) }
        let outbox = try await place.open()
        #expect(try await OutboxPlace.waiting(in: outbox) == Array(1...200))
        #expect(await outbox.status().setAside != nil)
        await outbox.close()
    }

    @Test("a lost outbox beside segments of an unknown owner keeps these under other names")
    func unknown() async throws {
        try place.file().accept(1...100)
        place.loseDatabase()
        var contents: Set<Data> = []
        for segment in try place.segments() {
            try OutboxPlace.overwrite(segment, [UInt8](repeating: 0x58, count: 40), at: 0)
            contents.insert(try Data(contentsOf: URL(filePath: segment)))
        }
        let outbox = try await place.open()
        try await outbox.accept(OutboxPlace.message(1))
        #expect(await outbox.status().setAside?.contains("damaged-") == true)
        #expect(Set(try place.damaged().map { try Data(contentsOf: URL(filePath: place.bench.path($0))) }) == contents)
        await outbox.close()
        #expect(try await waiting(in: place) == [1])
    }

    @Test("an outbox of which all segments are gone reports that, and its dead letters are there")
    func noSegments() async throws {
        let outbox = try await place.open()
        for number in 1...3 { try await outbox.accept(OutboxPlace.message(number)) }
        _ = try await outbox.next(limit: 1, bytes: 1)
        try await outbox.makeDeadLetter(1, because: "refused")
        await outbox.close()
        for segment in try place.segments() { unlink(segment) }
        let again = try await place.open()
        let status = await again.status()
        #expect(status.setAside != nil && status.deadLetters == 1 && status.depth == 0)
        #expect(try await again.payload(ofDeadLetter: 1) == OutboxPlace.message(1).payload)
        #expect(try await again.accept(OutboxPlace.message(9)) > 1)
        await again.close()
        let third = try await place.open()
        #expect(await third.status().setAside == nil)
        #expect(await third.status().deadLetters == 1)
        #expect(try await OutboxPlace.waiting(in: third) == [9])
        await third.close()
    }
}
