import Foundation
import Groundwork
import Storage
import Testing

@testable import Messaging

/// Damage within a file of inboxes that is too large to be checked whole at each start.
@Suite("Damage of inboxes", .timeLimit(.minutes(5)))
struct InboxDamageTests {
    private let bench: Bench
    private static let count = 12_000

    init() throws { bench = try Bench() }

    private func open() async throws -> InboxStore {
        let policy = InboxPolicy(
            name: "orders", filter: try TopicFilter("t"), limitBytes: 1 << 26, limitMessages: 2 * Self.count)
        return try await InboxStore.open(at: bench.path("inbox.db"), owner: "device", policies: [policy])
    }

    private func message(_ number: Int) -> IncomingMessage {
        let payload = "<\(number)>" + String(repeating: "x", count: 1600)
        return IncomingMessage(
            topic: "t", payload: Array(payload.utf8), qos: .atLeastOnce, retained: false, receivedAt: Date())
    }

    /// Overwrites the page at an offset, as a worn-out card does.
    private func damage(pageAt offset: Int) throws {
        let file = try FileHandle(forUpdating: URL(filePath: bench.path("inbox.db")))
        try file.seek(toOffset: UInt64(offset / 4096 * 4096))
        try file.write(contentsOf: Data(repeating: 0xa5, count: 4096))
        try file.close()
    }

    private func damage(message number: Int) throws {
        let file = try Data(contentsOf: URL(filePath: bench.path("inbox.db")))
        #expect(file.count > 16 << 20, "a smaller file is checked whole at its opening")
        try damage(pageAt: try #require(file.firstRange(of: Data("<\(number)>".utf8))).lowerBound)
    }

    private func fill() async throws {
        let store = try await open()
        for first in stride(from: 1, through: Self.count, by: 2000) {
            try await store.keep((first..<first + 2000).map { message($0) })
        }
        await store.close()
    }

    private func expectFresh(_ store: InboxStore) async throws {
        #expect(try await store.statuses().map(\.unread) == [0])
        try await store.keep([message(1)])
        #expect(try await store.page(of: "orders").count == 1)
        await store.close()
        // And stays so.
        let again = try await open()
        #expect(await again.newsOfOpening.isEmpty)
        #expect(try await again.statuses().map(\.unread) == [1])
        await again.close()
    }

    private func isSetAside(_ event: InboxEvent?) -> Bool {
        guard case .setAside(let path)? = event else { return false }
        return path.contains(".damaged-") && FileManager.default.fileExists(atPath: path)
    }

    @Test("a large file of inboxes whose index is damaged is set aside at the start")
    func index() async throws {
        try await fill()
        let database = try Database(path: bench.path("inbox.db"), migrations: InboxFile.migrations)
        let page = try #require(
            try database.first("SELECT rootpage FROM sqlite_schema WHERE name = 'place'") { Int($0.int64(0)) })
        database.close()
        try damage(pageAt: (page - 1) * 4096)
        let store = try await open()
        #expect(isSetAside(await store.newsOfOpening.first))
        try await expectFresh(store)
    }

    @Test("a large file of inboxes whose oldest message is damaged is set aside at the start")
    func oldest() async throws {
        try await fill()
        try damage(message: 1)
        let store = try await open()
        #expect(isSetAside(await store.newsOfOpening.first))
        try await expectFresh(store)
    }

    @Test("a large file of inboxes is set aside once a damaged message is met, and new messages are kept")
    func later() async throws {
        try await fill()
        try damage(message: Self.count / 2)
        let store = try await open()
        #expect(await store.newsOfOpening.isEmpty)
        var news = store.events.subscribe().makeAsyncIterator()
        let before = Int64(Self.count / 2 - 2)
        await #expect(throws: MessagingError.self) { try await store.page(of: "orders", after: before) }
        #expect(try await store.page(of: "orders").isEmpty)
        #expect(isSetAside(await news.next()))
        try await expectFresh(store)
    }
}
