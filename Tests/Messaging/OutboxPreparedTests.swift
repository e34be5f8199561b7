import Foundation
import Glibc
import Storage
import Testing

@testable import Messaging

/// Zeros that are written behind a segment's end, so that messages that come alone change nothing but them.
@Suite("Room that an outbox prepares", .timeLimit(.minutes(8)))
struct OutboxPreparedTests {
    private let place: OutboxPlace

    init() throws {
        var place = try OutboxPlace()
        // Segments of 1 MiB.
        place.policy.limitBytes = 64 << 20
        self.place = place
    }

    private func size(_ file: OutboxFile) throws -> Int { try #require(try file.log.file?.size()) }

    private func content(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

    private func replace(_ path: String, by bytes: some Sequence<UInt8>) throws {
        try OutboxPlace.overwrite(path, Array(bytes), at: 0)
        truncate(path, off_t(Array(bytes).count))
    }

    @Test("prepared room is written for messages that come alone: hundreds do not change the length of the file")
    func alone() throws {
        let file = try place.file()
        var sizes: Set<Int> = []
        for number in 1...400 {
            try file.accept([number])
            let (size, tail) = (try size(file), file.log.tail)
            sizes.insert(size)
            #expect(size - tail <= SegmentLog.ahead + 4096)
        }
        #expect(sizes.count <= 2 + file.log.tail / SegmentLog.ahead)
        // It is written, and not only kept: a sync of what replaces it changes nothing else.
        let path = file.log.name(1)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let size = try size(file)
        try #require(size > file.log.tail)
        let seekHole: CInt = 4
        #expect(lseek(descriptor, off_t(file.log.tail), seekHole) == size)
        #expect(try content(path)[file.log.tail...].allSatisfy { $0 == 0 })
        file.close()
    }

    @Test("prepared room is not written for messages in large groups, nor for a small one between them")
    func together() throws {
        let file = try place.file()
        for group in 0..<5 {
            let first = 100 * group + 1
            try file.acceptTogether(first..<first + 100)
            #expect(try size(file) == file.log.tail)
            // What has left is recorded in between.
            try file.remove(each: [first])
            #expect(try size(file) == file.log.tail)
        }
        file.close()
    }

    @Test("prepared room is within a segment, however small, and goes with its end")
    func small() throws {
        var place = place
        place.policy.limitBytes = 300_000
        let file = try place.file()
        let limit = (file.log.segmentBytes + 4095) / 4096 * 4096
        for number in 1...200 {
            try file.accept([number])
            let (size, tail) = (try size(file), file.log.tail)
            #expect(size <= max(tail, limit))
        }
        #expect(file.log.segments.count > 4)
        for segment in file.log.segments.dropLast() {
            #expect(try content(file.log.name(segment.first)).count == segment.bytes)
        }
        file.close()
    }

    @Test("prepared room is there for the next start, after an end and after a kill", arguments: [false, true])
    func reopened(isKilled: Bool) async throws {
        let file = try place.file()
        try file.accept(1...20)
        let before = try size(file)
        try #require(before > file.log.tail)
        if !isKilled { file.close() }
        let next = isKilled ? try place.copy() : place
        let again = try next.file()
        #expect(try size(again) == before)
        try again.accept(21...40)
        #expect(try size(again) == before)
        again.close()
        let outbox = try await next.open(nil)
        #expect(try await OutboxPlace.waiting(in: outbox) == Array(1...40))
        #expect(await outbox.status().setAside == nil)
        await outbox.close()
    }

    @Test("prepared room is cut off where it is larger than this program makes it")
    func tooLarge() throws {
        do {
            let file = try place.file()
            try file.accept(1...20)
            file.close()
        }
        truncate(try place.segments()[0], 4 << 20)
        let file = try place.file()
        #expect(try size(file) == file.log.tail)
        #expect(try file.page(after: 0, limit: .max, bytes: .max).messages.count == 20)
        file.close()
    }

    @Test("a segment without prepared room, as a full disk leaves it, goes on and gets room")
    func withoutRoom() async throws {
        let tail: Int
        do {
            let file = try place.file()
            try file.accept(1...20)
            tail = file.log.tail
            file.close()
        }
        truncate(try place.segments()[0], off_t(tail))
        let file = try place.file()
        #expect(try size(file) == tail)
        try file.accept(21...30)
        #expect(try size(file) > file.log.tail)
        file.close()
        let outbox = try await place.open(nil)
        #expect(try await OutboxPlace.waiting(in: outbox) == Array(1...30))
        #expect(await outbox.status().setAside == nil)
        await outbox.close()
    }

    /// What a power cut leaves where the last transaction was written.
    enum Left: CaseIterable {
        /// The rest of it was not written, or its beginning, or it and the room, whose length was or was not.
        case rest, beginning, shortRoom, noRoom
        /// A disk block that had other content, of this outbox or not.
        case former, foreign
    }

    @Test(
        "prepared room and a transaction of many pages that a power cut tore leave whole transactions",
        arguments: Left.allCases)
    func torn(_ left: Left) async throws {
        let file = try place.file()
        // A segment of before, whose blocks may come again.
        try file.accept(1...30)
        let former = try content(file.log.name(1))
        try file.log.rotate()
        try file.remove(each: 1...30)
        try file.accept(31...50)
        let start = file.log.tail
        // More than a frame.
        try file.acceptTogether(51...110)
        let end = file.log.tail
        let name = file.log.name(31)
        let whole = try content(name)
        try #require(whole.count > end && end - start > 5000)
        // By several bytes: one of the outbox's random mark may be what it is replaced by.
        for place in [start + 4, start + 40, start + 4096, end - 4096, end - 4] {
            var bytes = whole
            switch left {
            case .rest: bytes.replaceSubrange(place..<end, with: [UInt8](repeating: 0, count: end - place))
            case .beginning: bytes.replaceSubrange(start..<place, with: [UInt8](repeating: 0, count: place - start))
            case .shortRoom: bytes.removeSubrange(place...)
            case .noRoom: bytes.replaceSubrange(place..., with: [UInt8](repeating: 0, count: end - place))
            case .former: bytes.replaceSubrange(place..., with: former)
            case .foreign: bytes.replaceSubrange(place..., with: (0..<9000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            }
            let copy = try self.place.copy()
            try replace(copy.bench.path(String(name.split(separator: "/").last!)), by: bytes)
            for round in 0..<2 {
                let outbox = try await copy.open(nil)
                #expect(await outbox.status().setAside == nil)
                let numbers = try await OutboxPlace.waiting(in: outbox)
                #expect(numbers == Array(31...50) + (round == 0 ? [] : [51, 52, 53]), "\(left) from \(place)")
                if round == 0 {
                    // What it goes on with is shorter than what it takes the place of.
                    for number in 51...53 { try await outbox.accept(OutboxPlace.message(number)) }
                }
                await outbox.close()
            }
        }
        file.close()
    }

    @Test("prepared room has frames of a former segment in it: they are neither messages nor damage")
    func formerFrames() async throws {
        let file = try place.file()
        try file.accept(1...60)
        let former = try content(file.log.name(1)).prefix(file.log.tail)
        try file.log.rotate()
        try file.remove(each: 1...60)
        try file.accept(61...80)
        let tail = file.log.tail
        let name = String(file.log.name(61).split(separator: "/").last!)
        // Of a transaction that began at the very same place.
        var same = OutboxFrameWriter()
        [UInt8]("81 former".utf8).withUnsafeBytes { same.append(81, at: 0, flags: 8, topic: "t", payload: $0) }
        same.seal(mark: file.log.mark, start: tail, number: 5, isLast: true)
        let contents = [former[tail...], former, former.dropFirst(1), former.dropFirst(100), same.bytes[...]]
        try #require(former.count > tail + 1000)
        for content in contents {
            let copy = try place.copy()
            try OutboxPlace.overwrite(copy.bench.path(name), Array(content), at: tail)
            for round in 0..<2 {
                let outbox = try await copy.open(nil)
                #expect(await outbox.status().setAside == nil)
                #expect(try await OutboxPlace.waiting(in: outbox) == Array(61...80 + round))
                if round == 0 { try await outbox.accept(OutboxPlace.message(81)) }
                await outbox.close()
            }
        }
        file.close()
    }

    @Test("prepared room hides no damage: a synced transaction that is zeros, or behind which others are")
    func damage() async throws {
        let file = try place.file()
        try file.accept(1...20)
        let start = file.log.tail
        try file.accept([21])
        let end = file.log.tail
        try file.accept([22])
        let name = String(file.log.name(1).split(separator: "/").last!)
        let zeros = [UInt8](repeating: 0, count: end - start)
        let killed = try place.copy()
        try OutboxPlace.overwrite(killed.bench.path(name), zeros, at: start)
        file.close()
        // After a clean end, all of the last ones are missing.
        let ended = try place.copy()
        try OutboxPlace.overwrite(
            ended.bench.path(name), [UInt8](repeating: 0, count: file.log.tail - start), at: start)
        // What the newest segment alone knows of is not known any more.
        for (place, expected, lost) in [(killed, Array(1...20) + [22], 1), (ended, Array(1...20), 0)] {
            let outbox = try await place.open(nil)
            #expect(await outbox.status().setAside != nil)
            #expect(try await OutboxPlace.waiting(in: outbox) == expected)
            #expect(await outbox.status().dropped.unsendable == lost)
            await outbox.close()
        }
    }
}
