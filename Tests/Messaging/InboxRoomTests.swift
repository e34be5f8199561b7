import Foundation
import Glibc
import Groundwork
import TestSupport
import Testing

@testable import Messaging
@testable import Storage

@Suite(
    "Messages for an inbox on a disk that is full", .timeLimit(.minutes(5)),
    .enabled(if: geteuid() == 0, "only root may mount"))
struct InboxRoomTests {
    /// A small disk that another program can fill.
    ///
    /// A child of another test has all open files from its fork until its exec, whatever their flags. What is removed
    /// meanwhile keeps its room until then.
    private final class SmallDisk {
        let bench: Bench
        private static let size = 3 << 20

        init() throws {
            bench = try Bench()
            try #require(mount("tmpfs", bench.directory.path, "tmpfs", 0, "size=\(Self.size)") == 0)
        }

        deinit { umount2(bench.directory.path, CInt(MNT_DETACH)) }

        /// - Parameter isTold: whether room that is given back meanwhile may be noticed.
        func fill(noticing isTold: Bool = true) {
            if !isTold { mkdir(bench.path("inbox.db.room"), 0o700) }
            let other = Glibc.open(bench.path("other"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            let piece = [UInt8](repeating: 1, count: 4096)
            // No removed file gives back room later.
            while write(other, piece, piece.count) > 0 || named < Self.size {}
            close(other)
        }

        /// The bytes that files with names take.
        private var named: Int {
            (FileManager.default.subpaths(atPath: bench.directory.path) ?? []).reduce(0) { sum, name in
                var status = stat()
                return stat(bench.path(name), &status) == 0 ? sum + 512 * Int(status.st_blocks) : sum
            }
        }

        func free() {
            // The file's room is there at once, whoever has it open.
            truncate(bench.path("other"), 0)
            unlink(bench.path("other"))
            rmdir(bench.path("inbox.db.room"))
        }
    }

    private static let much = String(repeating: "x", count: 60_000)
    private static let inbox = InboxPolicy(name: "orders", filter: try! TopicFilter("t/#"))

    private func open(on disk: SmallDisk) async throws -> InboxStore {
        try await InboxStore.open(at: disk.bench.path("inbox.db"), owner: "device", policies: [Self.inbox])
    }

    @Test("messages for an inbox wait at the broker while its disk is full, and come once, in order")
    func room() async throws {
        // Only with TLS, what the library reads is gated under sanitizers too.
        let secure = try await SecureBroker()
        let (broker, credentials) = (secure.broker, try secure.credentials())
        let disk = try SmallDisk()
        let store = try await open(on: disk)
        let board = try await Station(
            at: broker.address, bench: disk.bench, inboxes: store,
            adjust: { $0.roomCheck = .milliseconds(50) }, credentials: { _ in credentials })
        try await until { await board.messenger.established.count == 1 }
        try await board.stop()
        for number in 1...300 { try await board.publish("backlog \(number)", to: "backlog") }
        let sender = try await Station(
            at: broker.address,
            credentials: { _ in
                BrokerCredentials(clientID: "sender", userName: nil, password: nil, tls: credentials.tls)
            })
        try await sender.publish("1" + Self.much, to: "t/a")
        try await sender.publish("2", to: "t/b")
        try await sender.waitUntilSent()
        // What leaves may give room back at any time.
        disk.fill(noticing: false)
        let events = store.events.subscribe()
        board.run()
        try await board.waitUntilSent()
        try await until { await board.messenger.status().inboxFault != nil }
        // What comes now waits too, behind those.
        try await sender.publish("3", to: "t/a")
        try await sender.waitUntilSent()
        let reader = try await board.messenger.subscribe("live")
        try await sender.publish("live", to: "live")
        #expect(await reader.texts(1) == ["live"])
        #expect(await board.messenger.status().inboxFault == store.obstacle)
        disk.free()
        try await until { try await store.page(of: "orders").count >= 3 }
        #expect(try await store.page(of: "orders").map(\.message.text.first) == ["1", "2", "3"])
        try await until { await board.messenger.status().inboxFault == nil }
        try await board.stop()
        #expect(await board.outbox.status().delivered == 300)
        #expect(try await store.page(of: "orders").count == 3)
        await store.close()
        var told: [InboxEvent] = []
        for await event in events { told.append(event) }
        guard case .notKept(.inboxUnusable) = told.first else {
            Issue.record("\(told)")
            return
        }
        #expect(told.dropFirst() == [.keptAgain])
    }

    @Test("an inbox that is added on a full disk is refused because the disk is full, and can be added later")
    func adding() async throws {
        let disk = try SmallDisk()
        let store = try await open(on: disk)
        disk.fill()
        var refusal: MessagingError?
        var added = 0
        // What the file and its log have room for is taken.
        while refusal == nil, added < InboxStore.addedLimit {
            do throws(MessagingError) {
                let topic = "u/\(added)/" + String(repeating: "x", count: 4000)
                _ = try await store.add(InboxPolicy(name: "more-\(added)", filter: try! TopicFilter(topic)))
                added += 1
            } catch {
                refusal = error
            }
        }
        #expect(refusal == .inboxUnusable(.full(path: disk.bench.path("inbox.db"))))
        #expect(refusal?.explanation.kind == .full)
        #expect(
            refusal?.message.contains("the disk is full") == true && refusal?.remedy?.contains("free space") == true)
        disk.free()
        #expect(try await store.add(InboxPolicy(name: "late", filter: try TopicFilter("u"))))
        await store.close()
    }

    @Test("messages for an inbox are kept again once there is room for all that could not be, not before")
    func again() async throws {
        let disk = try SmallDisk()
        let store = try await open(on: disk)
        let message = IncomingMessage(
            topic: "t", payload: [UInt8](repeating: 1, count: 400_000), qos: .atLeastOnce, retained: false,
            receivedAt: Date())
        disk.fill()
        #expect(!store.keepAndWait([message]) && store.obstacle != nil)
        #expect(await !store.canKeepAgain())
        // Room for the message alone.
        #expect(truncate(disk.bench.path("other"), off_t((3 << 20) - 600_000)) == 0)
        #expect(await !store.canKeepAgain())
        disk.free()
        #expect(await store.canKeepAgain())
        #expect(store.obstacle == nil && store.keepAndWait([message]))
        #expect(try await store.page(of: "orders").count == 1)
        #expect(!FileManager.default.fileExists(atPath: disk.bench.path("inbox.db.room")))
        await store.close()

        // What was kept can be read where nothing can be written.
        disk.fill()
        let full = try await open(on: disk)
        #expect(try await full.page(of: "orders").count == 1 && full.obstacle == nil)
        await full.close()
        disk.free()

        // Where no file can be made it is not known which inboxes were added, so everything waits.
        for ending in ["", "-wal", "-shm"] { unlink(disk.bench.path("inbox.db" + ending)) }
        disk.fill()
        let late = try await open(on: disk)
        #expect(late.obstacle != nil && late.wants(messageTo: "other", retained: false))
        #expect(await !late.canKeepAgain())
        disk.free()
        #expect(await late.canKeepAgain())
        #expect(late.obstacle == nil && !late.wants(messageTo: "other", retained: false))
        #expect(late.keepAndWait([message]))
        #expect(try await late.page(of: "orders").count == 1)
        await late.close()
    }
}
