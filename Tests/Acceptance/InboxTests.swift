import Foundation
import GatewayLab
import TestSupport
import Testing

/// Messages that wait while no program reads.
@Suite("Inbox", .timeLimit(.minutes(15)))
struct InboxTests {
    private static let settings = """
        [telemetry]
        enabled = false
        [[inbox]]
        name = "orders"
        filter = "orders/#"
        [[inbox]]
        name = "few"
        filter = "few"
        limit_messages = 3
        """

    private func enroll(
        _ board: TestBoard, at lab: Lab, filters: [String] = ["/orders/#", "/few"]
    ) async throws -> String {
        let enrolled = try await board.enroll(at: lab)
        _ = try await board.status { $0.isConnected }
        // Until then the sender could be first.
        for filter in filters { try await lab.hasSubscription(to: filter) }
        return "/2.0/client/devices/\(try #require(enrolled.registration.deviceID))/custom"
    }

    /// Waits until an inbox holds so many, which no program has read.
    private func unread(_ count: Int, of name: String, at board: TestBoard) async throws -> [String: Any] {
        if count > 0 {
            let reader = try board.follow("inbox", "read", name, "--follow", "--count", "\(count)")
            #expect(try await reader.ended() == 0, "\(reader.errors.text)")
        }
        let all = try await board.ask("inbox")["inboxes"] as? [[String: Any]] ?? []
        let one = try #require(all.first { $0["name"] as? String == name })
        #expect(one["unread"] as? Int == count)
        return one
    }

    private func read(_ name: String, at board: TestBoard, _ more: String...) async throws -> [[String: Any]] {
        let result = try await Program(name: "latchkey").run(
            ["inbox", "read", name, "--json", "--socket", board.socket] + more)
        guard result.status == 0 else { throw Unexpected(result.errors) }
        return try result.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test("messages that arrive while no program reads wait in the inbox, across a kill and while the agent is down")
    func waiting() async throws {
        try await withLabAndBoard(settings: Self.settings) { lab, board in
            let own = try await enroll(board, at: lab)
            let phone = try await SecondClient(named: "phone", user: "alice", at: lab, in: board.folder)
            try await phone.publish("no order", to: "\(own)/other")
            try await phone.publish("1", to: "\(own)/orders/a")
            try await phone.publish(
                #"{"SenderId":"alice","SentTime":1767225600000,"Payload":"Mg==","SenderType":"USER"}"#,
                to: "\(own)/orders/b")
            _ = try await unread(2, of: "orders", at: board)
            // Until they are counted, the broker may not know that they are kept, and would send them again.
            _ = try await board.status { ($0.broker?.received ?? 0) >= 2 }
            try await board.stop(SIGKILL)
            try await phone.publish("3", to: "\(own)/orders/c")
            try await board.start()
            let status = try await unread(3, of: "orders", at: board)
            #expect(status["dropped"] as? Int == 0 && status["oldest"] is String)
            let inStatus = try await board.ask("status")["inboxes"] as? [[String: Any]]
            #expect(inStatus?.first?["unread"] as? Int == 3)

            let messages = try await read("orders", at: board)
            #expect(messages.map { $0["text"] as? String } == ["1", "2", "3"])
            #expect(messages[0]["ownTopic"] as? String == "orders/a")
            #expect(value(messages[1], "envelope", "senderID") as? String == "alice")
            let ids = messages.compactMap { $0["id"] as? Int }
            #expect(ids == ids.sorted() && ids.count == 3)
            let beyond = try await board.latchkey("inbox", "ack", "orders", "\(ids[2] + 1000)")
            #expect(
                beyond.status == 1 && beyond.errors.contains("the newest that waits is \(ids[2]); nothing")
                    && beyond.errors.contains("latchkey inbox read orders"), "\(beyond.errors)")
            // Reading alone takes nothing away.
            #expect(try await board.ask("inbox", "ack", "orders", "\(ids[1])")["removed"] as? Int == 2)
            let bare = try await board.latchkey("inbox", "read", "orders", "--payload", "line", "--ack")
            #expect(bare.output == "3\n")
            _ = try await unread(0, of: "orders", at: board)

            let follower = try board.follow("inbox", "read", "orders", "--follow", "--count", "1")
            try await phone.publish("4", to: "\(own)/orders/d")
            #expect(try await follower.ended() == 0)
            #expect(follower.output.text.contains(#""text":"4""#))
            #expect(try await board.ask("inbox", "remove", "orders", "--yes")["removed"] as? Int == 1)
            #expect(try await read("orders", at: board).isEmpty)

            let missing = try await board.latchkey("inbox", "read", "nothing", "--json")
            #expect(missing.status != 0 && missing.errors.contains("messaging.no-such-inbox"))
        }
    }

    @Test("an inbox added while the agent runs outlives a kill, and goes when removed or with the registration")
    func added() async throws {
        try await withLabAndBoard(settings: "[telemetry]\nenabled = false") { lab, board in
            let own = try await enroll(board, at: lab, filters: [])
            let phone = try await SecondClient(named: "phone", user: "alice", at: lab, in: board.folder)
            let live = try board.follow("subscribe")
            _ = try await live.errors.line(containing: "subscribed")
            #expect(try await board.latchkey("inbox").output.contains("latchkey inbox add"))
            #expect(try await board.latchkey("inbox", "add", "orders", "orders/#").output == "added inbox orders\n")
            let again = try await board.ask("inbox", "add", "orders", "orders/#")
            #expect(again["changed"] as? Bool == false && again["filter"] as? String == "\(own)/orders/#")
            let other = try await board.latchkey("inbox", "add", "orders", "other", "--json")
            #expect(other.status != 0 && other.errors.contains("messaging.inbox-exists"))
            let unnamed = try await board.latchkey("inbox", "add", "No name", "other")
            #expect(unnamed.status == 64 && unnamed.errors.contains("lower-case"))
            let small = try await board.latchkey("inbox", "add", "small", "other", "--limit-bytes", "1")
            #expect(small.status == 64 && small.errors.contains("--limit-bytes is 65536 to"), "\(small.errors)")
            let foreign = try await board.latchkey(
                "inbox", "add", "foreign", "/2.0/client/devices/another/custom/#", "--raw", "--json")
            #expect(foreign.status != 0 && foreign.errors.contains("messaging.subscription-refused"))

            try await phone.publish("1", to: "\(own)/orders/a")
            _ = try await unread(1, of: "orders", at: board)
            // Whoever subscribed before goes on.
            _ = try await live.output.line(containing: #""text":"1""#)
            try await live.stop(SIGKILL)
            try await board.stop(SIGKILL)
            try await phone.publish("2", to: "\(own)/orders/b")
            try await board.start()
            let status = try await unread(2, of: "orders", at: board)
            #expect(status["added"] as? Bool == true)
            #expect(try await board.latchkey("inbox").output.contains("2 messages"))

            let removed = try await board.ask("inbox", "remove", "orders", "--yes")
            #expect(removed["removed"] as? Int == 2 && removed["ended"] as? Bool == true)
            let gone = try await board.latchkey("inbox", "read", "orders", "--json")
            #expect(gone.errors.contains("messaging.no-such-inbox"))
            try await phone.publish("3", to: "\(own)/orders/c")
            _ = try await board.ask("inbox", "add", "orders", "orders/#")
            try await phone.publish("4", to: "\(own)/orders/d")
            _ = try await unread(1, of: "orders", at: board)
            #expect(try await read("orders", at: board).map { $0["text"] as? String } == ["4"])

            await lab.stopBroker(abruptly: true)
            _ = try await board.status { !$0.isConnected }
            for text in ["a", "b"] { _ = try await board.ask("publish", "counter", text) }
            let reset = try await board.latchkey("reset", "--yes").output
            #expect(
                reset == "local identity removed; deleted 2 messages of the outbox that the broker did not have and "
                    + "1 message of inboxes that were not acknowledged\n", "\(reset)")
            try await lab.startBroker()
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            #expect((try await board.ask("inbox")["inboxes"] as? [Any])?.isEmpty == true)
        }
    }

    @Test("a reset leaves nothing of an inbox's messages on the disk, even in damaged files", arguments: [false, true])
    func erased(cannotOpen: Bool) async throws {
        try await withLabAndBoard(settings: Self.settings) { lab, board in
            _ = try await enroll(board, at: lab)
            await lab.stopBroker(abruptly: true)
            _ = try await board.ask("publish", "counter", "of the former owner")
            try await board.stop()
            let state = board.state.path
            func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: state) }
            let outbox = try #require(try files().first { $0.hasPrefix("outbox-") && $0.hasSuffix(".db") })
            let inbox = outbox.replacing("outbox-", with: "inbox-")
            let date = ".damaged-2026-01-01T00-00-00Z"
            for name in [outbox + date, outbox + "-0000000000000001" + date, inbox + date, inbox + date + "-wal"] {
                let path = "\(state)/\(name)"
                try Data("of the former owner".utf8).write(to: URL(filePath: path))
                #expect(chmod(path, 0o600) == 0)
            }
            func leftovers() throws -> [String] {
                try files().filter {
                    (try? Data(contentsOf: URL(filePath: "\(state)/\($0)")))?.firstRange(of: Data("former owner".utf8))
                        != nil
                }
            }
            #expect(try leftovers().count >= 5)
            if cannotOpen { #expect(chmod("\(state)/\(outbox)", 0o644) == 0) }
            try await board.start()
            if cannotOpen {
                _ = try await #require(board.daemon).errors.line(containing: "storage.permissions-too-open")
            } else {
                _ = try await board.status { $0.outbox?.depth ?? 0 > 0 }
            }
            _ = try await board.ask("reset", "--yes")
            try await Self.until { try leftovers() == [] }
        }
    }

    /// Waits until it has become true; the test's time limit ends it.
    private static func until(_ condition: () throws -> Bool) async throws {
        while try !condition() { try await Task.sleep(for: .milliseconds(50)) }
    }

    @Test("a full inbox drops its oldest messages, counts them and reports once; an identity's end empties it")
    func bounded() async throws {
        try await withLabAndBoard(settings: Self.settings) { lab, board in
            let own = try await enroll(board, at: lab)
            let phone = try await SecondClient(named: "phone", user: "alice", at: lab, in: board.folder)
            for number in 1...6 { try await phone.publish("\(number)", to: "\(own)/few") }
            _ = try await board.daemon?.errors.line(containing: "inbox.dropped")
            let last = try board.follow("inbox", "read", "few", "--follow")
            _ = try await last.output.line(containing: #""text":"6""#)
            try await last.stop(SIGKILL)
            #expect(try await read("few", at: board).map { $0["text"] as? String } == ["4", "5", "6"])
            #expect(try await unread(3, of: "few", at: board)["dropped"] as? Int == 3)
            #expect(board.daemon?.errors.lines.filter { $0.contains("inbox.dropped") }.count == 1)
            _ = try await board.ask("reset", "--yes")
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            _ = try await unread(0, of: "few", at: board)
        }
    }
}
