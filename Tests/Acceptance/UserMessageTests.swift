import Foundation
import GatewayLab
import Groundwork
import TestSupport
import Testing

/// The logged-in user at the broker, beside the board (MAG 9.1 to 9.3).
@Suite("Messages of a user", .timeLimit(.minutes(5)))
struct UserMessageTests {
    private func withUser(
        _ lab: LabConfiguration = LabConfiguration(), settings: String = "",
        _ body: (Lab, TestBoard, _ device: String) async throws -> Void
    ) async throws {
        try await withLabAndBoard(lab, settings: settings) { lab, board in
            let enrolled = try await board.enroll(at: lab)
            try await logIn(board, as: "alice")
            try await body(lab, board, try #require(enrolled.registration.deviceID))
        }
    }

    private func logIn(_ board: TestBoard, as user: String) async throws {
        let result = try await board.latchkey("login", "--user", user, "--password-stdin", input: "\(user)-password\n")
        guard result.status == 0 else { throw Unexpected(result.errors) }
    }

    /// The error of a subcommand that has to be refused.
    private func refusal(_ board: TestBoard, _ arguments: String...) async throws -> [String: Any] {
        let result = try await Program(name: "latchkey").run(arguments + ["--json", "--socket", board.socket])
        guard result.status != 0 else { throw Unexpected("\(arguments) was not refused") }
        let error = try JSONSerialization.jsonObject(with: Data(result.errors.utf8))
        return try #require(value(error, "error") as? [String: Any])
    }

    /// The next message at the broker whose topic ends so.
    private func arrival(_ arrivals: AsyncStream<LabMessage>, at topic: String) async throws -> LabMessage {
        try await Acceptance.within(60, "a message at \(topic)") {
            for await message in arrivals where message.topic.hasSuffix(topic) { return message }
            throw Unexpected("the broker's messages ended")
        }
    }

    private func envelope(_ message: LabMessage) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any])
    }

    @Test("have a connection of the user's from log-in to log-out, under the user's name (MAG checklist 39, 41)")
    func connection() async throws {
        try await withUser { lab, board, device in
            let arrivals = lab.arrivals.subscribe()
            _ = try await board.ask("send", "--as", "user", "--user", "bob", "hello")
            let message = try await arrival(arrivals, at: "/2.0/client/users/bob/custom/bob")
            let magIdentifier = try #require(await lab.devices().first?.magIdentifier)
            #expect(message.sender == "\(magIdentifier)::\(MasterClient.agent.clientID)::alice")
            #expect(message.qos == 1 && !message.retained)
            let said = try envelope(message)
            #expect(said["SenderId"] as? String == "alice" && said["SenderType"] as? String == "USER")
            #expect(said["DisplayName"] as? String == "alice" && said["ContentType"] as? String == "text/plain")
            // The board's own connection and the user's.
            _ = try await board.status { $0.isConnected }
            #expect(await lab.brokerSessions.keys.sorted().map { $0.components(separatedBy: "::").count } == [2, 3])
            #expect(try await board.status().userBroker?.state == "connected")

            // Another user has another connection.
            try await logIn(board, as: "bob")
            _ = try await board.ask("send", "--as", "user", "--user", "alice", "hello")
            let answer = try await arrival(arrivals, at: "/2.0/client/users/alice/custom/alice")
            #expect(answer.sender.hasSuffix("::bob"))
            #expect(await !lab.brokerSessions.keys.contains(message.sender))

            #expect(try await board.latchkey("logout").status == 0)
            let refused = try await refusal(board, "send", "--as", "user", "--user", "bob", "late")
            #expect(refused["code"] as? String == "messaging.user-required")
            #expect(value(refused, "gateway", "number") as? Int == 530_004)
            let status = try await board.status { $0.userBroker == nil }
            #expect(status.isConnected)
            try await Acceptance.within(60, "the end of the user's connection") {
                while await lab.brokerSessions.keys.contains(where: { $0.hasSuffix("::bob") }) {
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            #expect(device == (await lab.devices().first?.deviceID))
        }
    }

    @Test("sent to the user are listened to until that stops, or the user logs out")
    func mine() async throws {
        try await withUser { lab, board, _ in
            let phone = try await SecondClient(named: "phone", user: "bob", at: lab, in: board.folder)
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "uptime")
            let reader = try board.follow("subscribe", "--as", "user")
            _ = try await reader.errors.line(containing: "subscribed")
            try await phone.publish(
                """
                {"Version":"1.0","SenderId":"bob","SenderType":"USER","DisplayName":"Bob","SentTime":1767225600000,\
                "ContentType":"text/plain","ContentEncoding":"BASE64","Payload":"aGVsbG8="}
                """, to: "/2.0/client/users/alice/custom/alice")
            let line = try await reader.output.line(containing: "hello")
            #expect(line.contains(#""ownTopic":"alice""#) && line.contains(#""senderID":"bob""#))
            let told = try await events.output.line(containing: "message.received")
            #expect(told.contains(#""as":"user""#) && told.contains(#""senderType":"USER""#))
            #expect(told.contains(#""senderID":"bob""#) && told.contains(#""bytes":5"#) && !told.contains("aGVsbG8="))

            #expect(try await board.latchkey("logout").status == 0)
            #expect(try await reader.ended(within: 60) != 0)
            #expect(reader.errors.text.contains("messaging.user-required"))
            try await events.stop(SIGKILL)

            // Nobody listens to what has come meanwhile: the broker was told.
            try await phone.publish("missed", to: "/2.0/client/users/alice/custom/alice")
            try await logIn(board, as: "alice")
            let again = try board.follow("subscribe", "--as", "user", "--count", "1")
            _ = try await again.errors.line(containing: "subscribed")
            try await phone.publish("now", to: "/2.0/client/users/alice/custom/alice")
            #expect(try await again.ended(within: 60) == 0)
            #expect(again.output.text.contains("now") && !again.output.text.contains("missed"))
        }
    }

    @Test("reach users, devices, groups, the application, and users in any application, at the receiver's own topic")
    func receivers() async throws {
        try await withUser { lab, board, device in
            let client = MasterClient.agent.clientID
            for (arguments, topics) in [
                (["--user", "bob"], ["/2.0/client/users/bob/custom/bob"]),
                (["--user", "bob", "--topic", "a/b"], ["/2.0/client/users/bob/custom/a/b"]),
                (["--user", "bob", "--across-applications"], ["/2.0/users/bob/custom/bob"]),
                (["--device", device], ["/2.0/client/devices/\(device)/custom/\(device)"]),
                (["--group", "household"], ["/2.0/client/groups/household/custom/household"]),
                (
                    ["--group", "household", "--member", "alice", "--member", "bob", "--member", "bob"],
                    ["/2.0/client/users/alice/custom/alice", "/2.0/client/users/bob/custom/bob"]
                ),
                (["--application"], ["/2.0/client/custom/\(client)"]),
            ] {
                for speaker in ["board", "user"] {
                    let before = lab.messages.count
                    let words = ["send", "--as", speaker, "hello"] + arguments + ["--json", "--socket", board.socket]
                    let sent = try await Program(name: "latchkey").run(words)
                    #expect(sent.status == 0, "\(arguments): \(sent.errors)")
                    // The board's may be on their way still.
                    try await Acceptance.within(60, "messages at \(topics)") {
                        func found() -> [LabMessage] {
                            lab.messages.dropFirst(before).filter { topics.contains($0.topic) }
                        }
                        while found().count < topics.count { try await Task.sleep(for: .milliseconds(20)) }
                        #expect(found().map(\.topic) == topics)
                        for message in found() { #expect(message.sender.hasSuffix("::alice") == (speaker == "user")) }
                    }
                }
            }
            let invalid = try await refusal(board, "send", "--user", "bob/alice", "hello")
            #expect(invalid["code"] as? String == "messaging.invalid-receiver")
            #expect(value(invalid, "gateway", "number") as? Int == 500_002)
            #expect(value(invalid, "gateway", "domain") as? String == "messaging")
        }
    }

    @Test("name the sender as a group or the application where that is asked for")
    func senders() async throws {
        try await withUser { lab, board, device in
            let arrivals = lab.arrivals.subscribe()
            for (arguments, type, id) in [
                (["--from", "application"], "APPLICATION", MasterClient.agent.clientID),
                (["--from-group", "household"], "GROUP", "household"), (["--from", "device"], "DEVICE", device),
            ] {
                let words = ["send", "--as", "user", "--user", "bob", "--topic", type, "hello"] + arguments
                let sent = try await Program(name: "latchkey").run(words + ["--socket", board.socket])
                #expect(sent.status == 0, "\(sent.errors)")
                let said = try envelope(try await arrival(arrivals, at: "/users/bob/custom/\(type)"))
                #expect(said["SenderType"] as? String == type && said["SenderId"] as? String == id)
            }
            let refused = try await refusal(board, "send", "--user", "bob", "--from", "user", "hello")
            #expect(refused["code"] as? String == "agent.bad-request")
        }
    }

    @Test("carry a file with its content type, which the receiver saves byte for byte")
    func files() async throws {
        try await withUser { lab, board, _ in
            let bytes = Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            let picture = board.folder.appending(path: "door.JPG")
            try bytes.write(to: picture)
            let folder = board.folder.appending(path: "saved")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let reader = try board.follow("subscribe", "--as", "user", "--save", folder.path, "--count", "2")
            _ = try await reader.errors.line(containing: "subscribed")
            _ = try await board.ask("send", "--user", "alice", "--file", picture.path)
            let phone = try await SecondClient(named: "phone", user: "bob", at: lab, in: board.folder)
            // What the sender says decides nothing about the name.
            try await phone.publish(
                #"{"SenderId":"bob","SentTime":1767225600000,"ContentType":"../../../tmp/x","Payload":"aGk="}"#,
                to: "/2.0/client/users/alice/custom/../../x")
            #expect(try await reader.ended(within: 60) == 0)
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            #expect(files.map { ($0 as NSString).pathExtension }.sorted() == ["bin", "jpg"])
            let saved = try #require(files.first { $0.hasSuffix(".jpg") })
            #expect(try Data(contentsOf: folder.appending(path: saved)) == bytes)
            #expect(reader.output.text.contains(saved) && reader.output.text.contains("image/jpeg"))
            let mode = try FileManager.default.attributesOfItem(atPath: folder.appending(path: saved).path)
            #expect(mode[.posixPermissions] as? Int == 0o600)

            let refused = try await refusal(board, "send", "--user", "alice", "--content-type", "nothing", "x")
            #expect(value(refused, "gateway", "number") as? Int == 500_001)
            let empty = try await refusal(board, "send", "--user", "alice", "")
            #expect(value(empty, "gateway", "number") as? Int == 500_003)
        }
    }

    @Test("are told of by events: those sent, those refused, and what the broker reports at its error topic")
    func events() async throws {
        try await withUser { lab, board, _ in
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "uptime")
            _ = try await board.ask("send", "--as", "user", "--user", "bob", "hello")
            let sent = try await events.output.line(containing: "message.sent")
            #expect(
                sent.contains(#""senderID":"alice""#) && sent.contains(#""topic":"/2.0/client/users/bob/custom/bob""#))
            // MQTT 3.1.1 acknowledges what is not passed on; the broker's report is all that tells.
            _ = try await board.ask("send", "--as", "user", "--user", "nobody", "hello")
            let reported = try await events.output.line(containing: "message.broker-error")
            #expect(reported.contains("may not publish to /2.0/client/users/nobody/custom/nobody"))
            #expect(reported.contains(#""topic":"/2.0/client/users/alice/custom/error""#))

            await lab.stopBroker()
            let refused = try await refusal(board, "send", "--as", "user", "--user", "bob", "lost")
            #expect(["messaging.cannot-connect", "messaging.connection-lost"].contains(refused["code"] as? String))
            let failed = try await events.output.line(containing: "message.not-sent")
            #expect(failed.contains(#""as":"user""#))
            // What the board itself sends waits for the broker.
            _ = try await board.ask("send", "--user", "bob", "kept")
            let arrivals = lab.arrivals.subscribe()
            try await lab.startBroker()
            let kept = try envelope(try await arrival(arrivals, at: "/users/bob/custom/bob"))
            #expect(kept["Payload"] as? String == Data("kept".utf8).base64EncodedString())
            try await events.stop(SIGKILL)
        }
    }

    @Test("are accepted when the broker has them: a kill takes none that was, and leaves none that was not")
    func kill() async throws {
        try await withUser { lab, board, _ in
            for number in 0..<20 { _ = try await board.ask("send", "--as", "user", "--user", "bob", "\(number)") }
            #expect(lab.messages.count { $0.topic == "/2.0/client/users/bob/custom/bob" } == 20)
            await lab.suspendBroker()
            let before = try #require(try await board.status().userBroker?.sent)
            let waiting = try board.follow("send", "--as", "user", "--user", "bob", "--topic", "late", "x")
            _ = try await board.status { ($0.userBroker?.sent ?? 0) > before }
            try await board.stop(SIGKILL)
            #expect(try await waiting.ended(within: 60) != 0)
            await lab.resumeBroker()
            try await board.start()
            // The user is still logged in, and nothing of that user's was kept.
            _ = try await board.ask("send", "--as", "user", "--user", "bob", "after")
            #expect(try await board.status { $0.outbox?.depth == 0 }.userBroker?.sent == 1)
        }
    }

    @Test("are refused when the user logs out before the broker has them")
    func logOut() async throws {
        try await withUser { lab, board, _ in
            _ = try await board.ask("send", "--as", "user", "--user", "bob", "first")
            await lab.suspendBroker()
            let waiting = try board.follow("send", "--as", "user", "--user", "bob", "--topic", "late", "x")
            _ = try await board.status { ($0.userBroker?.sent ?? 0) > 1 }
            #expect(try await board.latchkey("logout").status == 0)
            #expect(try await waiting.ended(within: 60) != 0)
            #expect(waiting.errors.text.contains("messaging.user-required"))
            // Nor is anything of it among the dead letters.
            #expect((try await board.ask("dead-letters")["deadLetters"] as? [Any])?.isEmpty == true)
            await lab.resumeBroker()
        }
    }

    @Test(
        "go to a broker that accepts users only, while the board's wait; at one for boards only it is the other way round"
    )
    func otherBrokers() async throws {
        var users = LabConfiguration()
        users.brokerClients = .users
        try await withUser(users) { lab, board, _ in
            _ = try await board.ask("send", "--as", "user", "--user", "bob", "hello")
            #expect(lab.messages.map(\.topic) == ["/2.0/client/users/bob/custom/bob"])
            _ = try await board.ask("publish", "door", "open")
            let status = try await board.status { $0.broker?.lastError?.code == "messaging.refused" }
            #expect(status.userBroker?.state == "connected" && (status.outbox?.depth ?? 0) > 0)
        }
        var boards = LabConfiguration()
        boards.brokerClients = .boards
        try await withUser(boards) { lab, board, _ in
            let refused = try await refusal(board, "send", "--as", "user", "--user", "bob", "hello")
            #expect(refused["code"] as? String == "messaging.refused")
            #expect(value(refused, "gateway", "number") as? Int == 511_001)
            _ = try await board.ask("publish", "door", "open")
            let status = try await board.status { $0.isConnected && $0.outbox?.depth == 0 }
            // The board works: its user's trouble is not its own.
            #expect(status.userBroker?.lastError?.code == "messaging.refused" && status.lastError == nil)
        }
    }

    @Test("have no connection where the settings say so; the board's own login is as they say")
    func settings() async throws {
        let settings = """
            [broker]
            user_connection = false
            client_id = "{mag-identifier}::{client}::{device}"
            """
        try await withUser(settings: settings) { lab, board, device in
            _ = try await board.status { $0.isConnected }
            #expect(await lab.brokerSessions.keys.map { $0.components(separatedBy: "::").last } == [device])
            let refused = try await refusal(board, "send", "--as", "user", "--user", "bob", "hello")
            #expect(refused["code"] as? String == "messaging.user-connection-off")
        }
        let board = try TestBoard(settings: "[broker]\nuser_name = \"{token}\"")
        let check = try await Program(name: "latchkey").run(["config", "check", board.configuration.path])
        #expect(check.status == 78 && (check.output + check.errors).contains("broker.user_name"))
        try await board.tearDown()
    }
}
