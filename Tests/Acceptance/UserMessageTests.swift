import Foundation
import GatewayLab
import Groundwork
import TestSupport
import Testing

/// The connection of the logged-in user to the broker, beside the board's (MAG 9.1).
@Suite("Messages of a user", .timeLimit(.minutes(15)))
struct UserMessageTests {
    @Test("a user's messages have a connection of their own from log-in to log-out (MAG checklist 39, 41)")
    func connection() async throws {
        try await UserBoard.with { lab, board, device in
            let arrivals = lab.arrivals.subscribe()
            _ = try await board.ask("send", "--as", "user", "--user", "bob", "hello")
            let message = try await UserBoard.arrival(arrivals, at: "/2.0/client/users/bob/custom/bob")
            let magIdentifier = try #require(await lab.devices().first?.magIdentifier)
            #expect(message.sender == "\(magIdentifier)::\(MasterClient.agent.clientID)::alice")
            #expect(message.qos == 1 && !message.retained)
            let said = try UserBoard.envelope(message)
            #expect(said["SenderId"] as? String == "alice" && said["SenderType"] as? String == "USER")
            #expect(said["DisplayName"] as? String == "alice" && said["ContentType"] as? String == "text/plain")
            // The board's own connection and the user's.
            _ = try await board.status { $0.isConnected }
            #expect(await lab.brokerSessions.keys.sorted().map { $0.components(separatedBy: "::").count } == [2, 3])
            #expect(try await board.status().userBroker?.state == "connected")

            // Another user has another connection.
            try await UserBoard.logIn(board, as: "bob")
            _ = try await board.ask("send", "--as", "user", "--user", "alice", "hello")
            let answer = try await UserBoard.arrival(arrivals, at: "/2.0/client/users/alice/custom/alice")
            #expect(answer.sender.hasSuffix("::bob"))
            #expect(await !lab.brokerSessions.keys.contains(message.sender))

            #expect(try await board.latchkey("logout").status == 0)
            let refused = try await UserBoard.refusal(board, "send", "--as", "user", "--user", "bob", "late")
            #expect(refused["code"] as? String == "messaging.user-required")
            #expect(value(refused, "gateway", "number") as? Int == 530_004)
            let status = try await board.status { $0.userBroker == nil }
            #expect(status.isConnected)
            try await lab.hasNoSession(of: "bob")
            #expect(device == (await lab.devices().first?.deviceID))
        }
    }

    @Test("messages to the user are received until the reader stops or the user logs out")
    func mine() async throws {
        try await UserBoard.with { lab, board, _ in
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
            #expect(try await reader.ended() != 0)
            #expect(reader.errors.text.contains("messaging.user-required"))
            try await events.stop(SIGKILL)

            // Nobody listens to what has come meanwhile: the broker was told.
            try await lab.hasNoSession(of: "alice")
            try await phone.publish("missed", to: "/2.0/client/users/alice/custom/alice")
            try await UserBoard.logIn(board, as: "alice")
            let again = try board.follow("subscribe", "--as", "user", "--count", "1")
            _ = try await again.errors.line(containing: "subscribed")
            try await phone.publish("now", to: "/2.0/client/users/alice/custom/alice")
            #expect(try await again.ended() == 0)
            #expect(again.output.text.contains("now") && !again.output.text.contains("missed"))
        }
    }

    @Test("a user's message is accepted when the broker has it, and a kill takes none that was")
    func kill() async throws {
        try await UserBoard.with { lab, board, _ in
            for number in 0..<20 { _ = try await board.ask("send", "--as", "user", "--user", "bob", "\(number)") }
            #expect(lab.messages.count { $0.topic == "/2.0/client/users/bob/custom/bob" } == 20)
            await lab.suspendBroker()
            let before = try #require(try await board.status().userBroker?.sent)
            let waiting = try board.follow("send", "--as", "user", "--user", "bob", "--topic", "late", "x")
            _ = try await board.status { ($0.userBroker?.sent ?? 0) > before }
            try await board.stop(SIGKILL)
            #expect(try await waiting.ended() != 0)
            await lab.resumeBroker()
            try await board.start()
            // The user is still logged in, and nothing of that user's was kept.
            _ = try await board.ask("send", "--as", "user", "--user", "bob", "after")
            #expect(try await board.status { $0.outbox?.depth == 0 }.userBroker?.sent == 1)
        }
    }

    @Test("a user's messages are refused when the user logs out before the broker has them")
    func logOut() async throws {
        try await UserBoard.with { lab, board, _ in
            _ = try await board.ask("send", "--as", "user", "--user", "bob", "first")
            await lab.suspendBroker()
            let waiting = try board.follow("send", "--as", "user", "--user", "bob", "--topic", "late", "x")
            _ = try await board.status { ($0.userBroker?.sent ?? 0) > 1 }
            #expect(try await board.latchkey("logout").status == 0)
            #expect(try await waiting.ended() != 0)
            #expect(waiting.errors.text.contains("messaging.user-required"))
            // Nor is anything of it among the dead letters.
            #expect((try await board.ask("dead-letters")["deadLetters"] as? [Any])?.isEmpty == true)
            await lab.resumeBroker()
        }
    }

    @Test("users' messages go to a broker that accepts users only, the board's to one that accepts boards only")
    func otherBrokers() async throws {
        var users = LabConfiguration()
        users.brokerClients = .users
        try await UserBoard.with(users) { lab, board, _ in
            _ = try await board.ask("send", "--as", "user", "--user", "bob", "hello")
            #expect(lab.messages.map(\.topic) == ["/2.0/client/users/bob/custom/bob"])
            _ = try await board.ask("publish", "door", "open")
            let status = try await board.status { $0.broker?.lastError?.code == "messaging.refused" }
            #expect(status.userBroker?.state == "connected" && (status.outbox?.depth ?? 0) > 0)
        }
        var boards = LabConfiguration()
        boards.brokerClients = .boards
        try await UserBoard.with(boards) { lab, board, _ in
            let refused = try await UserBoard.refusal(board, "send", "--as", "user", "--user", "bob", "hello")
            #expect(refused["code"] as? String == "messaging.refused")
            #expect(value(refused, "gateway", "number") as? Int == 511_001)
            _ = try await board.ask("publish", "door", "open")
            let status = try await board.status { $0.isConnected && $0.outbox?.depth == 0 }
            // The board works: its user's trouble is not its own.
            #expect(status.userBroker?.lastError?.code == "messaging.refused" && status.lastError == nil)
        }
    }

    @Test("a user's messages get no connection where the settings say so; the broker login follows the settings")
    func settings() async throws {
        let settings = """
            [broker]
            user_connection = false
            client_id = "{mag-identifier}::{client}::{device}"
            error_reports = false
            """
        try await UserBoard.with(settings: settings) { lab, board, device in
            _ = try await board.status { $0.isConnected }
            #expect(await lab.brokerSessions.keys.map { $0.components(separatedBy: "::").last } == [device])
            let refused = try await UserBoard.refusal(board, "send", "--as", "user", "--user", "bob", "hello")
            #expect(refused["code"] as? String == "messaging.user-connection-off")
            // What the broker reports is not subscribed to either.
            #expect(!lab.log.contains { $0.text.hasSuffix("/custom/error") })
        }
        let board = try TestBoard(settings: "[broker]\nuser_name = \"{token}\"")
        let check = try await Program(name: "latchkey").run(["config", "check", board.configuration.path])
        #expect(check.status == 78 && (check.output + check.errors).contains("broker.user_name"))
        try await board.tearDown()
    }
}
