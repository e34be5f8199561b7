import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("Messages", .timeLimit(.minutes(15)))
struct MessageTests {
    private func enroll(_ board: TestBoard, at lab: Lab) async throws -> String {
        let enrolled = try await board.enroll(at: lab)
        _ = try await board.status { $0.isConnected }
        return try #require(enrolled.registration.deviceID)
    }

    @Test("messages from another client arrive in order, envelopes decoded, others raw (MAG checklist 40)")
    func receive() async throws {
        try await withLabAndBoard { lab, board in
            let device = try await enroll(board, at: lab)
            let phone = try await SecondClient(named: "phone", user: "alice", at: lab, in: board.folder)
            let reader = try board.follow("subscribe", "--count", "2")
            _ = try await reader.errors.line(containing: "subscribed")

            let topic = "/2.0/client/devices/\(device)/custom/greeting"
            try await phone.publish(
                """
                {"Version":"1.0","SenderId":"alice","SenderType":"USER","DisplayName":"Alice","SentTime":1767225600000,\
                "ContentType":"text/plain","ContentEncoding":"BASE64","Payload":"aGVsbG8="}
                """, to: topic)
            try await phone.publish("no envelope", to: topic)
            #expect(try await reader.ended() == 0)

            let messages = try reader.output.lines.map {
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            }
            #expect(messages.map { $0?["text"] as? String } == ["hello", "no envelope"])
            #expect(value(messages[0], "envelope", "senderID") as? String == "alice")
            #expect(value(messages[0], "envelope", "sentAt") as? String == "2026-01-01T00:00:00Z")
            #expect(value(messages[1], "envelope") == nil)
        }
    }

    @Test("messages are printed as bare bytes, however they are framed, and streamed so to other programs")
    func payloads() async throws {
        try await withLabAndBoard { lab, board in
            let device = try await enroll(board, at: lab)
            let phone = try await SecondClient(named: "phone", user: "alice", at: lab, in: board.folder)
            let framings = ["line": "\na\nb\n", "nul": "\0a\nb\0", "length": "\0\0\0\0\0\0\0\u{3}a\nb"]
            let readers = try framings.map { framing, expected in
                let words = ["subscribe", "bare", "--payload", framing, "--count", "2", "--socket", board.socket]
                return (try RunningProgram(Program(name: "latchkey").url, words), expected)
            }
            func curl(accepting type: String) throws -> RunningProgram {
                try RunningProgram(
                    URL(filePath: "/usr/bin/curl"),
                    [
                        "-sSvN", "-H", "Accept: \(type)", "--unix-socket", board.socket,
                        "http://localhost/v1/messages?filter=bare",
                    ])
            }
            let other = try curl(accepting: "application/vnd.latchkey.frames")
            for (reader, _) in readers { _ = try await reader.errors.line(containing: "subscribed") }
            try await other.output.wait(for: #""event":"subscribed""#)

            let topic = "/2.0/client/devices/\(device)/custom/bare"
            try await phone.publish("", to: topic)
            try await phone.publish("a\nb", to: topic)
            for (reader, expected) in readers {
                #expect(try await reader.ended() == 0)
                #expect(reader.output.text == expected)
            }
            let line = try await other.output.line(containing: "\u{3}a")
            #expect(line.contains(#""event":"subscribed""#) && line.hasSuffix("}\0\0\0\0\0\0\0\0\0\u{3}a"))
            try await other.stop(SIGKILL)

            let refused = try curl(accepting: "text/plain")
            #expect(try await refused.ended() == 0)
            #expect(refused.errors.text.contains("< HTTP/1.1 406"))
            #expect(refused.output.text.contains("local-api.not-acceptable"))
        }
    }

    @Test("messages sent to a user are read by that user's client, in an envelope")
    func send() async throws {
        try await withLabAndBoard { lab, board in
            let device = try await enroll(board, at: lab)
            let phone = try await SecondClient(named: "phone", user: "alice", at: lab, in: board.folder)
            let listener = try await phone.subscribe(to: "/2.0/client/users/alice/custom/#")
            _ = try await board.ask("send", "--user", "alice", "--topic", "door", "somebody rang")
            let line = try await listener.output.line(containing: "SenderId")
            try await listener.stop(SIGKILL)
            let envelope = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(envelope["SenderId"] as? String == device)
            #expect(envelope["SenderType"] as? String == "DEVICE")
            #expect(envelope["Payload"] as? String == Data("somebody rang".utf8).base64EncodedString())
        }
    }

    @Test("messages with an invalid topic are refused with the reason, and nothing is accepted")
    func badTopic() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await enroll(board, at: lab)
            let result = try await board.latchkey("publish", "--json", "door/#", "open")
            #expect(result.status != 0)
            #expect(result.errors.contains("messaging.invalid-topic"))
        }
    }

    @Test("messages are refused with a reason before the board is registered")
    func notRegistered() async throws {
        let board = try TestBoard()
        try await board.start()
        let result = try await board.latchkey("publish", "--json", "door", "open")
        #expect(result.status != 0)
        #expect(result.errors.contains("agent.not-enrolled"))
        try await board.tearDown()
    }

    @Test("messages are accepted from a program that starts with the agent, as soon as the outbox is open")
    func whileOpening() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await enroll(board, at: lab)
            try await board.stop()
            let outbox = try #require(
                try FileManager.default.contentsOfDirectory(atPath: board.state.path).first {
                    $0.hasPrefix("outbox-") && $0.hasSuffix(".db")
                })
            // An agent that does not get at its outbox for 5 s says so; this machine may be that slow.
            for _ in 1...3 {
                let holder = try RunningProgram(
                    URL(filePath: "/usr/bin/python3"),
                    [
                        "-c",
                        """
                        import signal, sqlite3, sys
                        outbox = sqlite3.connect(sys.argv[1], isolation_level=None)
                        outbox.execute("PRAGMA locking_mode = EXCLUSIVE")
                        outbox.execute("BEGIN EXCLUSIVE")
                        print("held", flush=True)
                        signal.pause()
                        """, board.state.appending(path: outbox).path,
                    ])
                _ = try await holder.output.line(containing: "held")
                try await board.start()
                let reading = #"{"topic":"door","payload":"open"}"#
                let request = try LocalRequest(posting: reading, to: "/v1/messages", socket: board.socket)
                // Answered after the request was read, and without the thread that opens the outbox.
                #expect(
                    try await LocalRequest.post(#"{"pressed":false}"#, to: "/v1/board/button", socket: board.socket)
                        == 200)
                try await holder.stop(SIGKILL)
                let status = try await request.status()
                if status == 202 { return }
                let isSlow = board.daemon?.errors.text.contains("held by another process") == true
                guard isSlow else { throw Unexpected("refused with \(status)") }
                try await board.stop()
            }
            throw Unexpected("the agent never waited for its outbox")
        }
    }

    @Test("messages are published by curl over the local API")
    func curl() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await enroll(board, at: lab)
            let curl = try RunningProgram(
                URL(filePath: "/usr/bin/curl"),
                [
                    "-sS", "--unix-socket", board.socket, "-d", #"{"topic":"door","payload":"open"}"#,
                    "http://localhost/v1/messages",
                ])
            #expect(try await curl.ended() == 0)
            #expect(curl.output.text.contains(#""id":"#))
        }
    }
}
