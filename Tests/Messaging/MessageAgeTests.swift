import Foundation
import Groundwork
import Testing

@testable import Messaging
@testable import Storage

@Suite("How long messages have waited", .timeLimit(.minutes(5)))
struct MessageAgeTests {
    private static let hour: TimeInterval = 3600
    private static let day = 24 * hour
    /// What the clock of a board without a battery shows at its start.
    private static let lastShutdown = Date(timeIntervalSince1970: 1_790_000_000)
    private static let today = lastShutdown + 60 * day

    /// Messages are too old after a day.
    enum Kind: CaseIterable, Sendable { case outbox, inbox }

    /// A store of one kind, which takes and hands over texts.
    private struct Store {
        let texts: () async throws -> [String]
        let accept: (String) async throws -> Void
        let dropped: () async throws -> Int
        let close: () async -> Void
    }

    private let bench: Bench

    init() throws { bench = try Bench() }

    private func open(_ kind: Kind, _ clocks: SetClocks) async throws -> Store {
        switch kind {
        case .outbox:
            let outbox = try await Outbox.open(
                at: bench.path("outbox.db"), policy: OutboxPolicy(maxAge: .seconds(Self.day)), clock: clocks.clock)
            let topic = try Topic("t")
            return Store(
                texts: { try await outbox.waiting() },
                accept: { try await outbox.accept(OutgoingMessage(topic: topic, payload: Array($0.utf8))) },
                dropped: { await outbox.status().dropped.expired }, close: { await outbox.close() })
        case .inbox:
            let policy = InboxPolicy(name: "box", filter: try TopicFilter("t"), maxAge: .seconds(Self.day))
            let inbox = try await InboxStore.open(
                at: bench.path("inbox.db"), owner: "device", policies: [policy], clock: clocks.clock)
            return Store(
                texts: { try await inbox.page(of: "box").map(\.message.text) },
                accept: { text in
                    try await inbox.keep([
                        IncomingMessage(
                            topic: "t", payload: Array(text.utf8), qos: .atLeastOnce, retained: false,
                            receivedAt: clocks.date)
                    ])
                }, dropped: { try await inbox.statuses()[0].dropped }, close: { await inbox.close() })
        }
    }

    @Test("a clock that is set forward by weeks takes no message that is minutes old", arguments: Kind.allCases)
    func setForward(_ kind: Kind) async throws {
        let clocks = SetClocks(Self.lastShutdown)
        let store = try await open(kind, clocks)
        try await store.accept("before")
        clocks.pass(300)
        clocks.step(to: Self.today)
        clocks.clock.confirm()
        #expect(try await store.texts() == ["before"])
        clocks.pass(Self.day - 600)
        try await store.accept("after")
        #expect(try await store.texts() == ["before", "after"])
        // From here on the first has waited for more than a day.
        clocks.pass(600)
        #expect(try await store.texts() == ["after"])
        #expect(try await store.dropped() == 1)
    }

    @Test(
        "a clock that is years ahead for a moment takes nothing, also what was accepted then", arguments: Kind.allCases)
    func ahead(_ kind: Kind) async throws {
        let clocks = SetClocks(Self.today, isSettled: true)
        let earlier = try await open(kind, clocks)
        try await earlier.accept("1")
        await earlier.close()
        let store = try await open(kind, clocks)
        try await store.accept("2")
        let right = clocks.date
        clocks.step(to: right + 3000 * Self.day)
        #expect(try await store.texts() == ["1", "2"])
        try await store.accept("3")
        clocks.step(to: right)
        #expect(try await store.texts() == ["1", "2", "3"])
        await store.close()
        clocks.clock.confirm()
        let later = try await open(kind, clocks)
        #expect(try await later.texts() == ["1", "2", "3"])
        #expect(try await later.dropped() == 0)
    }

    @Test(
        "what was accepted before the time was certain is not judged by it after a restart either, but by the wait since",
        arguments: Kind.allCases, [false, true])
    func restarted(_ kind: Kind, isReached: Bool) async throws {
        let before = SetClocks(Self.lastShutdown)
        let first = try await open(kind, before)
        // A broker may be reached before a time server is: its certificate is valid for months.
        if isReached { before.clock.confirm() }
        before.pass(60)
        try await first.accept("1")
        await first.close()

        let clocks = SetClocks(Self.today, isSettled: true)
        let second = try await open(kind, clocks)
        #expect(try await second.texts() == ["1"])
        clocks.pass(Self.day + 1)
        #expect(try await second.texts() == [])
        #expect(try await second.dropped() == 1)
    }

    @Test(
        "what certainly waited too long is dropped after a restart, once the time is confirmed",
        arguments: Kind.allCases)
    func reallyOld(_ kind: Kind) async throws {
        let before = SetClocks(Self.lastShutdown, isSettled: true)
        let first = try await open(kind, before)
        try await first.accept("1")
        await first.close()

        let clocks = SetClocks(Self.today)
        let second = try await open(kind, clocks)
        try await second.accept("2")
        #expect(try await second.texts() == ["1", "2"])
        clocks.clock.confirm()
        #expect(try await second.texts() == ["2"])
        #expect(try await second.dropped() == 1)
    }

    @Test("a time that is not certain is below zero on the disk, and is shown as it was", arguments: Kind.allCases)
    func stored(_ kind: Kind) async throws {
        let clocks = SetClocks(Self.today)
        let store = try await open(kind, clocks)
        try await store.accept("1")
        await store.close()
        let seconds: Double
        switch kind {
        case .outbox:
            let (file, _) = try OutboxFile.open(at: bench.path("outbox.db"), policy: OutboxPolicy())
            defer { file.close() }
            let message = try #require(try file.log.scan(1, after: 0).next())
            seconds = Double(message.acceptedAt) / 1000
            #expect(try file.page(after: 0, limit: 1, bytes: 1).messages[0].acceptedAt == Self.today)
        case .inbox:
            let (file, _) = try InboxFile.open(at: bench.path("inbox.db"))
            defer { file.database.close() }
            seconds = try #require(try file.database.first("SELECT received FROM message") { $0.double(0) })
            let kept = try file.page(of: "box", after: 0, limit: 1, bytes: 1)
            #expect(kept.map(\.message.receivedAt) == [Self.today])
        }
        #expect(seconds == -Self.today.timeIntervalSince1970)
    }

    @Test("numbers of a change that failed are another's, and steps without end take no memory")
    func epochs() {
        let clocks = SetClocks(Self.today)
        var ages = MessageAges(clocks.clock)
        func stamp() -> MessageStamp { MessageStamp(clocks.date, isCertain: false) }
        let limit = Duration.seconds(Self.day)
        ages.accept(5, at: clocks.clock.read())
        clocks.step(to: Self.today + 9 * Self.day)
        ages.accept(4, at: clocks.clock.read())
        let five = stamp()
        #expect(!ages.hasWaited(limit, 5, five, at: clocks.clock.read()))
        for number in 6..<1000 {
            clocks.step(to: Self.today + Double(number) * 9 * Self.day)
            ages.accept(Int64(number), at: clocks.clock.read())
        }
        #expect(!ages.hasWaited(limit, 5, five, at: clocks.clock.read()))
        clocks.pass(Self.day + 1)
        #expect(ages.hasWaited(limit, 5, five, at: clocks.clock.read()))
    }
}
