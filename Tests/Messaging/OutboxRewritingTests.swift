import Foundation
import Glibc
import Testing

@testable import Messaging

@Suite("Segments of an outbox that are written anew", .timeLimit(.minutes(8)))
struct OutboxRewritingTests {
    private let place: OutboxPlace

    init() throws { place = try OutboxPlace() }

    /// An outbox of 150 messages, and the first and last of its second segment, which was written anew.
    private func rewritten() throws -> (file: OutboxFile, first: Int, last: Int) {
        let file = try place.file()
        try file.accept(1...150)
        let (first, last) = (Int(file.log.segments[1].first), Int(file.log.last(of: 1)))
        // A gap that the segment alone knows of.
        try file.remove(each: first + 3...last - 3)
        try file.log.rewrite(1)
        // What is recorded from here on does not have them.
        try file.log.rotate()
        return (file, first, last)
    }

    @Test("a segment written anew without messages left is removed, and a kill after that is no damage")
    func emptied() async throws {
        let (file, first, last) = try rewritten()
        try file.remove(each: Array(first..<first + 3) + Array(last - 2...last))
        try file.log.rewrite(1)
        try file.remove(each: [150])
        #expect(!file.log.segments.contains { $0.first == Int64(first) })
        #expect(!(try place.segments().contains(file.log.name(Int64(first)))))
        let copy = try place.copy()
        let killed = try await copy.open(nil)
        #expect(await killed.status().setAside == nil)
        #expect(try await OutboxPlace.waiting(in: killed) == Array(1..<first) + Array(last + 1..<150))
        await killed.close()
        file.close()
    }

    @Test("a kill while a segment is written anew, and right after, loses nothing and brings nothing back")
    func killed() async throws {
        let file = try place.file()
        try file.accept(1...150)
        let (first, last) = (Int(file.log.segments[1].first), Int(file.log.last(of: 1)))
        try file.remove(each: first + 3...last - 3)
        let expected = Array(1..<first + 3) + Array(last - 2...150)
        let before = try place.copy()
        // What was drafted, and never got its name.
        try FileManager.default.copyItem(atPath: file.log.name(Int64(first)), toPath: before.path + "-new")
        try file.log.rewrite(1)
        let after = try place.copy()
        for killed in [before, after] {
            let outbox = try await killed.open(nil)
            #expect(try await OutboxPlace.waiting(in: outbox) == expected)
            #expect(await outbox.status().setAside == nil)
            #expect(access(killed.path + "-new", F_OK) != 0)
            await outbox.close()
        }
        file.close()
    }

    @Test("a segment whose gaps are known from reading it goes with its messages, and a kill then is no damage")
    func gaps() async throws {
        let (file, first, last) = try rewritten()
        _ = try file.log.count()
        try file.remove(each: Array(first..<first + 3) + Array(last - 2...last))
        try file.remove(each: [150])
        #expect(!file.log.segments.contains { $0.first == Int64(first) })
        let copy = try place.copy()
        let killed = try await copy.open(nil)
        #expect(await killed.status().setAside == nil)
        #expect(try await OutboxPlace.waiting(in: killed) == Array(1..<first) + Array(last + 1..<150))
        await killed.close()
        file.close()
    }

    @Test("segments written anew keep gaps below their limit, even if one cannot be read")
    func rangeLimit() throws {
        let file = try place.file()
        let count = 4 * SegmentLog.rangeLimit
        for first in stride(from: 1, through: count, by: 64) { try file.acceptTogether(first..<first + 64, bytes: 1) }
        // The oldest one is damaged behind its state.
        let oldest = file.log.name(file.log.segments[0].first)
        try OutboxPlace.overwrite(oldest, [0x58], at: 1000)
        for first in stride(from: 1, through: count, by: 64) {
            try file.remove(each: stride(from: first, to: first + 64, by: 2))
        }
        #expect(file.log.state.removed.ranges.count <= SegmentLog.rangeLimit)
        let second = file.log.segments[1].first
        let left = try file.page(after: second - 1, limit: .max, bytes: .max).messages.map { Int($0.id) }
        #expect(left == (Int(second)...count).filter { $0 % 2 == 0 })
        file.close()
    }

    @Test("a segment that cannot be read does not keep others from being written anew when files are large")
    func unreadable() throws {
        let file = try place.file()
        try file.accept(1...600, bytes: 400)
        try OutboxPlace.overwrite(file.log.name(1), [0x58], at: 1500)
        var ledger = file.log.state.ledger
        for id in 1...600 where id % 10 != 5 { ledger.remove(size: try OutboxPlace.message(id, bytes: 400).size) }
        try file.transaction {
            for id in 1...600 where id % 10 != 5 { file.remove(Int64(id)...Int64(id)) }
            file.save(ledger)
        }
        let log = file.log
        #expect(log.bytes <= 2 * ledger.bytes + 5 * log.segmentBytes, "\(log.bytes) for \(ledger.bytes)")
        file.close()
    }
}
