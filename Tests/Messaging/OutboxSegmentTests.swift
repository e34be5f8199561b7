import Foundation
import Glibc
import Testing

@testable import Messaging

/// The files of an outbox. With this policy a segment is not continued from 4 KiB on.
@Suite("Segments of the outbox", .timeLimit(.minutes(8)))
struct OutboxSegmentTests {
    private let bench: Bench
    private let policy = OutboxPolicy(limitBytes: 256 << 10, maxAge: .seconds(1 << 32), telemetryReserve: 0)

    init() throws { bench = try Bench() }

    private func open(_ owner: String? = nil, in place: Bench? = nil) async throws -> Outbox {
        try await Outbox.open(at: (place ?? bench).path("outbox.db"), owner: owner, policy: policy)
    }

    private func fill(_ outbox: Outbox, _ numbers: Range<Int>, group: Int = 5, bytes: Int = 100, explicit: Int? = nil)
        async throws
    {
        for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: group) {
            try await outbox.accept(
                (first..<min(first + group, numbers.upperBound)).map {
                    OutgoingMessage(
                        topic: try Topic("t/\($0 % 3)"),
                        payload: Array("\($0) ".utf8)
                            + [UInt8](repeating: 0x78, count: $0.isMultiple(of: 2) ? explicit ?? bytes : bytes),
                        kind: $0.isMultiple(of: 2) ? .explicit : .telemetry)
                })
        }
    }

    private func waiting(in outbox: Outbox) async throws -> [Int] {
        try await outbox.rewind(arrival: nil)
        var numbers: [Int] = []
        while true {
            let page = try await outbox.next(limit: 7, bytes: 1 << 20)
            numbers += page.messages.compactMap {
                Int(String(decoding: $0.message.payload, as: UTF8.self).prefix { $0 != " " })
            }
            if page.isLast { return numbers }
        }
    }

    private func content(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: bench.path(name))) }

    private func damage(_ name: String, _ change: (inout Data) -> Void) throws {
        var bytes = try content(name)
        change(&bytes)
        let file = try FileHandle(forWritingTo: URL(filePath: bench.path(name)))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: bytes)
        try file.close()
    }

    private func copy() throws -> Bench {
        let copy = try Bench()
        for name in try bench.outboxFiles() {
            try FileManager.default.copyItem(atPath: bench.path(name), toPath: copy.path(name))
        }
        return copy
    }

    @Test("segments are begun as messages come and removed as they leave, and none is open to others")
    func life() async throws {
        let outbox = try await open()
        try await fill(outbox, 0..<300)
        let many = try bench.segments()
        #expect(many.count > 6)
        for name in try bench.outboxFiles() {
            let mode = try FileManager.default.attributesOfItem(atPath: bench.path(name))[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
        }
        let first = try await outbox.next(limit: 150, bytes: 1 << 20)
        try await outbox.acknowledge(first.messages.map(\.id))
        try await outbox.removeAcknowledgedForTest()
        let fewer = try bench.segments()
        #expect(fewer.count < many.count && many.suffix(fewer.count) == fewer[...])
        #expect(try await waiting(in: outbox) == Array(150..<300))
        await outbox.close()
        let again = try await open()
        #expect(try await waiting(in: again) == Array(150..<300))
        #expect(await again.status().delivered == 150)
    }

    @Test("a message that a transaction has added can be dropped in the same one")
    func ownMessages() async throws {
        let outbox = try await open()
        let topic = try Topic("t")
        // The second of the two makes room by the telemetry of the first.
        async let first = outbox.accept([
            OutgoingMessage(topic: topic, payload: .init(repeating: 1, count: 200_000), kind: .telemetry)
        ])
        async let second = outbox.accept([
            OutgoingMessage(topic: topic, payload: .init(repeating: 2, count: 200_000), kind: .telemetry)
        ])
        _ = try await (first, second)
        let page = try await outbox.next(limit: 9, bytes: 1 << 20)
        #expect(page.messages.map(\.id) == [2])
        #expect(await outbox.status().dropped.full == 1)
    }

    @Test("segments with holes are written anew, so that files take at most twice what waits, and some")
    func holes() async throws {
        let outbox = try await open()
        // Small explicit messages stay between large readings that go.
        for round in 0..<40 {
            try await fill(
                outbox, round * 50..<round * 50 + 50, bytes: round.isMultiple(of: 2) ? 700 : 100, explicit: 3)
            let size = try bench.segments().reduce(0) { try $0 + content($1).count }
            let bytes = await outbox.status().bytes
            #expect(size <= 2 * bytes + 4 * 4096 + 50 * 800, "\(size) for \(bytes) in round \(round)")
        }
        let numbers = try await waiting(in: outbox)
        #expect(
            numbers == numbers.sorted()
                && numbers.filter { $0.isMultiple(of: 2) }
                    == (0..<1000).map { 2 * $0 }.suffix(numbers.count { $0.isMultiple(of: 2) })
        )
        #expect(await outbox.status().dropped.full > 100)
        let status = await outbox.status()
        await outbox.close()
        let again = try await open()
        #expect(try await waiting(in: again) == numbers)
        #expect(await again.status() == status)
    }

    @Test("a newest segment that was cut anywhere has whole groups, in order, and goes on")
    func torn() async throws {
        let outbox = try await open()
        try await fill(outbox, 0..<20)
        // As a kill leaves it.
        let name = try #require(try bench.segments().last)
        let whole = try content(name)
        var counts: Set<Int> = []
        for length in stride(from: whole.count, to: 100, by: -37) {
            for isZeroed in [false, true] {
                let place = try copy()
                var bytes = whole.prefix(length)
                if isZeroed { bytes += Data(count: whole.count - length) }
                try bytes.write(to: URL(filePath: place.path(name)))
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: place.path(name))
                let cut = try await open(in: place)
                let numbers = try await waiting(in: cut)
                #expect(numbers == Array(0..<numbers.count) && numbers.count.isMultiple(of: 5))
                #expect(await cut.status().setAside == nil)
                counts.insert(numbers.count)
                try await fill(cut, numbers.count..<numbers.count + 3)
                await cut.close()
                let again = try await open(in: place)
                #expect(try await waiting(in: again) == Array(0..<numbers.count + 3))
                await again.close()
            }
        }
        #expect(counts == [0, 5, 10, 15, 20])
    }

    @Test(
        "damage of synced messages is set aside, and the rest is there, in the newest segment and others",
        arguments: [false, true], [false, true])
    func damaged(isNewest: Bool, isClosed: Bool) async throws {
        let outbox = try await open("device-1")
        try await fill(outbox, 0..<100)
        if isClosed { await outbox.close() }
        let names = try bench.segments()
        let name = isNewest ? names[names.count - 1] : names[names.count / 2]
        // The first group after the state.
        try damage(name) { $0.resetBytes(in: 200..<210) }
        let damaged = try content(name)
        let again = try await open("device-1")
        let status = await again.status()
        let setAside = try #require(status.setAside)
        #expect(setAside.hasPrefix(bench.path(name) + ".damaged-"))
        #expect(try Data(contentsOf: URL(filePath: setAside)) == damaged)
        let numbers = try await waiting(in: again)
        #expect(numbers.count == status.depth && numbers == numbers.sorted() && (90..<100).contains(numbers.count))
        #expect(numbers.first == 0 && numbers.last == 99)
        #expect(status.rescued > 0 && status.dropped.unsendable == 100 - numbers.count)
        #expect(try await again.accept(OutgoingMessage(topic: try Topic("t"), payload: Array("100 ".utf8))) == 101)
        #expect(try await waiting(in: again) == numbers + [100])
        await again.close()
        let third = try await open("device-1")
        #expect(await third.status().setAside == nil)
        #expect(try await waiting(in: third) == numbers + [100])
        await third.close()
        await outbox.close()
    }

    @Test(
        "a segment that is shorter than it was is noticed, both a closed newest one and an earlier one",
        arguments: [true, false])
    func truncated(isNewest: Bool) async throws {
        let outbox = try await open()
        try await fill(outbox, 0..<98)
        await outbox.close()
        let names = try bench.segments()
        try #require(names.count > 2)
        try damage(isNewest ? names[names.count - 1] : names[1]) { $0 = $0.withoutRoom.dropLast(10) }
        let again = try await open()
        #expect(await again.status().setAside != nil)
        let numbers = try await waiting(in: again)
        #expect((88..<98).contains(numbers.count) && numbers == numbers.sorted())
    }

    @Test("an outbox whose database was lost has its messages, and its owner")
    func lostDatabase() async throws {
        let outbox = try await open("device-1")
        try await fill(outbox, 0..<30)
        await outbox.close()
        for name in try bench.outboxFiles() where !name.contains(".db-0") { unlink(bench.path(name)) }
        let again = try await open("device-1")
        #expect(try await waiting(in: again) == Array(0..<30))
        #expect(await again.droppedAtOpening == 0)
        await again.close()
        for name in try bench.outboxFiles() where !name.contains(".db-0") { unlink(bench.path(name)) }
        let other = try await open("device-2")
        #expect(await other.droppedAtOpening == 30)
    }

    @Test("an outbox is removed with all its files, and its messages are overwritten")
    func removal() async throws {
        let outbox = try await open()
        try await fill(outbox, 0..<100)
        await outbox.close()
        let links = try Bench()
        for name in try bench.segments() { link(bench.path(name), links.path(name)) }
        Outbox.remove(at: bench.path("outbox.db"))
        #expect(try bench.outboxFiles().isEmpty)
        for name in try links.segments() {
            let left = try Data(contentsOf: URL(filePath: links.path(name)))
            #expect(left == Data(count: left.count))
        }
    }

    @Test("ranges of message numbers are a set")
    func ranges() {
        var (ranges, numbers) = (IDRanges(), Set<Int64>())
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let first = Int64.random(in: 0..<400, using: &generator)
            let range = first...first + Int64.random(in: 0..<4, using: &generator)
            if Int.random(in: 0..<10, using: &generator) == 0 {
                let area = first...first + 40
                for one in ranges.ranges where area.contains(one.lowerBound) && area.contains(one.upperBound) {
                    numbers.subtract(one)
                }
                #expect(
                    ranges.count(inside: area)
                        == ranges.ranges.count { area.contains($0.lowerBound) && area.contains($0.upperBound) })
                ranges.forget(inside: area)
            } else {
                ranges.insert(range)
                numbers.formUnion(range)
            }
            #expect((0..<410).filter { ranges.contains($0) } == numbers.sorted())
            #expect(ranges.covers(range) == numbers.isSuperset(of: range))
        }
        for (one, next) in zip(ranges.ranges, ranges.ranges.dropFirst()) {
            #expect(one.upperBound + 1 < next.lowerBound)
        }
    }
}
