import Foundation
import Groundwork
import Storage
import TestSupport
import Testing

@testable import Messaging

@Suite("Inboxes", .timeLimit(.minutes(5)))
struct InboxStoreTests {
    let bench: Bench

    init() throws { bench = try Bench() }

    func policy(
        _ name: String = "orders", _ filter: String = "t/#", limitBytes: Int = 1 << 20, limitMessages: Int = 1000,
        maxAge: Duration = .seconds(3600), takesRetained: Bool = false
    ) throws -> InboxPolicy {
        InboxPolicy(
            name: name, filter: try TopicFilter(filter), limitBytes: limitBytes, limitMessages: limitMessages,
            maxAge: maxAge, takesRetained: takesRetained)
    }

    func open(
        _ policies: [InboxPolicy], owner: String = "device", clock: WatchedClock = WatchedClock()
    ) async throws -> InboxStore {
        try await InboxStore.open(at: bench.path("inbox.db"), owner: owner, policies: policies, clock: clock)
    }

    func message(
        _ text: String, topic: String = "t/a", retained: Bool = false, at time: Date = Date()
    ) -> IncomingMessage {
        IncomingMessage(
            topic: topic, payload: Array(text.utf8), qos: .atLeastOnce, retained: retained, receivedAt: time)
    }

    func texts(in store: InboxStore, of name: String = "orders") async throws -> [String] {
        try await store.page(of: name).map(\.message.text)
    }

    @Test("messages are in every inbox whose filter matches, across a restart, in order and as they came")
    func reopening() async throws {
        let policies = [try policy(), try policy("all", "#")]
        let first = try await open(policies)
        try await first.keep([message("1"), message("2", topic: "u"), message("3")])
        let binary = IncomingMessage(
            topic: "t/ü", payload: Array(0...255), qos: .atMostOnce, retained: false,
            receivedAt: Date(timeIntervalSince1970: 1_763_800_000))
        try await first.keep([binary])
        // As a kill leaves it.
        let again = try await open(policies)
        #expect(try await texts(in: again).prefix(2) == ["1", "3"])
        #expect(try await texts(in: again, of: "all").prefix(3) == ["1", "2", "3"])
        let kept = try #require(try await again.page(of: "orders").last)
        #expect(kept.message.topic == binary.topic && kept.message.payload == binary.payload)
        #expect(kept.message.qos == .atMostOnce && kept.message.receivedAt == binary.receivedAt)
        #expect(try await again.statuses().map(\.unread) == [3, 4])
        await #expect(throws: MessagingError.noSuchInbox("none")) { try await again.page(of: "none") }
    }

    @Test("acknowledged inbox messages are gone, up to one or one alone, and numbers are never reused")
    func acknowledging() async throws {
        let store = try await open([try policy()])
        try await store.keep((1...5).map { message("\($0)") })
        let ids = try await store.page(of: "orders").map(\.id)
        #expect(try await store.acknowledge(ids[3], alone: true, of: "orders") == 1)
        #expect(try await store.acknowledge(ids[1], of: "orders") == 2)
        #expect(try await store.acknowledge(ids[1], of: "orders") == 0)
        #expect(try await texts(in: store) == ["3", "5"])
        // Nobody has read all up to a number that is not there yet.
        for alone in [false, true] {
            await #expect(throws: MessagingError.messageNotThere(ids[4] + 1, inbox: "orders", newest: ids[4])) {
                try await store.acknowledge(ids[4] + 1, alone: alone, of: "orders")
            }
        }
        #expect(try await texts(in: store) == ["3", "5"])
        #expect(try await store.acknowledge(ids[4], alone: true, of: "orders") == 1)
        // A program that did not get the answer asks again.
        #expect(try await store.acknowledge(ids[4], alone: true, of: "orders") == 0)
        await #expect(throws: MessagingError.messageNotThere(ids[4] + 1, inbox: "orders", newest: ids[2])) {
            try await store.acknowledge(ids[4] + 1, of: "orders")
        }
        // Who has read the newest may have acknowledged it before the others.
        #expect(try await store.acknowledge(ids[4], of: "orders") == 1)
        #expect(try await store.acknowledge(ids[4], of: "orders") == 0)
        await #expect(throws: MessagingError.messageNotThere(ids[4] + 1, inbox: "orders", newest: nil)) {
            try await store.acknowledge(ids[4] + 1, of: "orders")
        }
        try await store.keep([message("6")])
        #expect(try #require(try await store.page(of: "orders").first?.id) > ids[4])
        #expect(try await store.page(of: "orders", after: ids[4], limit: 1).map(\.message.text) == ["6"])
    }

    @Test("the oldest messages go first when an inbox is full, and are counted and reported once")
    func full() async throws {
        let store = try await open([try policy(limitMessages: 3), try policy("small", "s", limitBytes: 65_536)])
        let events = store.events.subscribe()
        for number in 1...5 { try await store.keep([message("\(number)")]) }
        #expect(try await texts(in: store) == ["3", "4", "5"])
        for number in 1...4 {
            try await store.keep([message(String(repeating: "\(number)", count: 30_000), topic: "s")])
        }
        #expect(try await texts(in: store, of: "small").map(\.first) == ["3", "4"])
        let statuses = try await store.statuses()
        #expect(statuses.map(\.dropped) == [2, 2] && statuses[1].bytes == 2 * 30_033)
        await store.close()
        var reported: [InboxEvent] = []
        for await event in events { reported.append(event) }
        #expect(
            reported == [
                .dropped(inbox: "orders", .full, total: 1), .dropped(inbox: "small", .full, total: 1),
            ])
    }

    @Test("inbox messages that waited too long are dropped, and those of a clock never set stay")
    func expired() async throws {
        let start = Date(timeIntervalSince1970: 1_763_800_000)
        let clocks = SetClocks(start)
        let store = try await open([try policy(maxAge: .seconds(3600))], clock: clocks.clock)
        try await store.keep([message("unset", at: Date(timeIntervalSince1970: 5)), message("old", at: start)])
        _ = try await store.acknowledge(1, of: "orders")
        clocks.pass(1800)
        try await store.keep([message("new", at: start.addingTimeInterval(1800))])
        #expect(try await texts(in: store) == ["old", "new"])
        clocks.pass(3600)
        #expect(try await texts(in: store) == ["new"])
        #expect(try await store.statuses().first?.dropped == 1)
        let unset = try await open([try policy("fresh", "u")], clock: clocks.clock)
        try await unset.keep([message("unset", topic: "u", at: Date(timeIntervalSince1970: 5))])
        #expect(try await texts(in: unset, of: "fresh") == ["unset"])
    }

    @Test("an inbox drops what was kept for another identity, and one no longer in the settings stays readable")
    func owners() async throws {
        let first = try await open([try policy()])
        try await first.keep([message("1")])
        await first.close()
        let former = try await open([])
        #expect(try await former.statuses().map(\.name) == ["orders"] && former.formerFilters.map(\.text) == ["t/#"])
        #expect(try await texts(in: former) == ["1"])
        await former.close()
        let other = try await open([try policy()], owner: "another")
        #expect(await other.newsOfOpening == [.formerIdentity(count: 1)])
        #expect(try await texts(in: other) == [])
        await other.close()
        #expect(try Data(contentsOf: URL(filePath: bench.path("inbox.db"))).firstRange(of: Data("t/a".utf8)) == nil)
    }

    @Test("a damaged inbox file is set aside, and the inbox goes on")
    func damaged() async throws {
        try bench.write(String(repeating: "not a database ", count: 1000), to: "inbox.db")
        chmod(bench.path("inbox.db"), 0o600)
        let store = try await open([try policy()])
        guard case .setAside(let path)? = await store.newsOfOpening.first else {
            Issue.record("nothing was set aside")
            return
        }
        #expect(path.contains(".damaged-"))
        try await store.keep([message("1")])
        #expect(try await texts(in: store) == ["1"])
        // With the identity it goes.
        try await store.clear()
        #expect(!FileManager.default.fileExists(atPath: path))
        await store.close()
        for isOpened in [true, false] {
            try Data("payload".utf8).write(to: URL(filePath: path))
            if isOpened { await (try open([try policy()], owner: "another")).close() }
            if !isOpened { InboxStore.remove(at: bench.path("inbox.db")) }
            #expect(!FileManager.default.fileExists(atPath: path))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.directory.path) == [])
    }

    @Test("the content of each inbox is known after every change as its file has it")
    func counts() async throws {
        let policies = [try policy(limitMessages: 40), try policy("few", "t/a", limitMessages: 3)]
        let store = try await open(policies)
        func expectAsInFile() async throws {
            let again = try await open(policies)
            #expect(try await store.statuses() == again.statuses())
            await again.close()
        }
        try await store.keep((1...50).map { message("\($0)", topic: $0 % 2 == 0 ? "t/a" : "t/b") })
        try await expectAsInFile()
        let ids = try await store.page(of: "orders").map(\.id)
        #expect(try await store.acknowledge(ids[30], alone: true, of: "orders") == 1)
        #expect(try await store.acknowledge(ids[2], of: "orders") == 3)
        try await expectAsInFile()
        for verdict in [ActionVerdict.done, .dead, .dead, .again] {
            var name = "few"
            var found = try await store.begin(name)
            if found == nil {
                name = "orders"
                found = try await store.begin(name)
            }
            let one = try #require(found)
            try await store.finish(one.id, of: name, verdict, began: Date(), report: [])
            try await expectAsInFile()
        }
        #expect(try await store.statuses().map(\.dead).reduce(0, +) == 2)
        // The dead ones are the oldest, and go first.
        try await store.keep((51...60).map { message("\($0)") })
        try await expectAsInFile()
        _ = try await store.revive("orders")
        _ = try await store.removeAll(of: "few")
        try await expectAsInFile()
        await #expect(throws: MessagingError.self) {
            try await store.change { file in
                try file.append(("orders", message("lost")))
                throw StorageError.full(path: "")
            }
        }
        try await expectAsInFile()
    }

    @Test("no change of an inbox costs more for the messages that wait")
    func flat() async throws {
        func cost(waiting: Int) async throws -> Int {
            let store = try await InboxStore.open(
                at: bench.path("\(waiting).db"), owner: "device", policies: [try policy(limitMessages: waiting + 1)])
            try await store.keep((0..<waiting).map { message("\($0)") })
            let before = try await store.operations()
            // The last of them is one too many.
            for number in 1...3 {
                try await store.keep([message("new \(number)")])
                if number == 1 { try await store.acknowledge(1, of: "orders") }
            }
            let one = try #require(try await store.begin("orders"))
            try await store.finish(one.id, of: "orders", .dead, began: Date(), report: [])
            #expect(try await store.statuses().map(\.dead) == [1])
            let cost = try await store.operations() - before
            await store.close()
            return cost
        }
        let (few, many) = (try await cost(waiting: 100), try await cost(waiting: 10_000))
        #expect(few > 100 && many <= few + few / 10)
    }
}
