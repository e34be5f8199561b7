import Foundation
import GatewayLab
import Groundwork
import TestSupport
import Testing

/// What is sent in envelopes: to whom, as whom, with what, and what is said of it (MAG 9.2, 9.3).
@Suite("Sent messages", .timeLimit(.minutes(15)))
struct SendTests {
    @Test("sent messages reach users, devices, groups and applications at the receiver's own topic")
    func receivers() async throws {
        try await UserBoard.with { lab, board, device in
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
                    let (before, arrivals) = (lab.messages.count, lab.arrivals.subscribe())
                    let words = ["send", "--as", speaker, "hello"] + arguments + ["--json", "--socket", board.socket]
                    let sent = try await Program(name: "latchkey").run(words)
                    #expect(sent.status == 0, "\(arguments): \(sent.errors)")
                    // The board's may be on their way still.
                    try await Acceptance.within(180, "messages at \(topics)") {
                        var left = topics.count
                        for await message in arrivals where topics.contains(message.topic) {
                            left -= 1
                            if left == 0 { return }
                        }
                        throw Unexpected("the broker's messages ended")
                    }
                    let found = lab.messages.dropFirst(before).filter { topics.contains($0.topic) }
                    #expect(found.map(\.topic) == topics)
                    for message in found { #expect(message.sender.hasSuffix("::alice") == (speaker == "user")) }
                }
            }
            let invalid = try await UserBoard.refusal(board, "send", "--user", "bob/alice", "hello")
            #expect(invalid["code"] as? String == "messaging.invalid-receiver")
            #expect(value(invalid, "gateway", "number") as? Int == 500_002)
            #expect(value(invalid, "gateway", "domain") as? String == "messaging")
        }
    }

    @Test("sent messages name a group or the application as sender where that is asked for")
    func senders() async throws {
        try await UserBoard.with { lab, board, device in
            let arrivals = lab.arrivals.subscribe()
            for (arguments, type, id) in [
                (["--from", "application"], "APPLICATION", MasterClient.agent.clientID),
                (["--from-group", "household"], "GROUP", "household"), (["--from", "device"], "DEVICE", device),
            ] {
                let words = ["send", "--as", "user", "--user", "bob", "--topic", type, "hello"] + arguments
                let sent = try await Program(name: "latchkey").run(words + ["--socket", board.socket])
                #expect(sent.status == 0, "\(sent.errors)")
                let message = try await UserBoard.arrival(arrivals, at: "/users/bob/custom/\(type)")
                let said = try UserBoard.envelope(message)
                #expect(said["SenderType"] as? String == type && said["SenderId"] as? String == id)
            }
            let refused = try await UserBoard.refusal(board, "send", "--user", "bob", "--from", "user", "hello")
            #expect(refused["code"] as? String == "agent.bad-request")
        }
    }

    @Test("sent messages carry a file with its content type, which the receiver saves byte for byte")
    func files() async throws {
        try await UserBoard.with { lab, board, _ in
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
            #expect(try await reader.ended() == 0)
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            #expect(files.map { ($0 as NSString).pathExtension }.sorted() == ["bin", "jpg"])
            let saved = try #require(files.first { $0.hasSuffix(".jpg") })
            #expect(try Data(contentsOf: folder.appending(path: saved)) == bytes)
            #expect(reader.output.text.contains(saved) && reader.output.text.contains("image/jpeg"))
            let mode = try FileManager.default.attributesOfItem(atPath: folder.appending(path: saved).path)
            #expect(mode[.posixPermissions] as? Int == 0o600)

            let refused = try await UserBoard.refusal(
                board, "send", "--user", "alice", "--content-type", "nothing", "x")
            #expect(value(refused, "gateway", "number") as? Int == 500_001)
            let empty = try await UserBoard.refusal(board, "send", "--user", "alice", "")
            #expect(value(empty, "gateway", "number") as? Int == 500_003)
        }
    }

    @Test("events report messages sent and refused, and what the broker reports at its error topic")
    func events() async throws {
        try await UserBoard.with { lab, board, _ in
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
            // Each connection has its own reports: these of the user are none of the board's.
            var status = try await board.ask("status")
            #expect(value(status, "userBroker", "errorReports", "count") as? Int == 1)
            #expect(value(status, "broker", "errorReports") == nil)
            _ = try await board.ask("send", "--device", "unknown", "hello")
            _ = try await events.output.line(containing: "may not publish to /2.0/client/devices/unknown/")
            status = try await board.ask("status")
            #expect(
                value(status, "broker", "errorReports", "text") as? String
                    == "may not publish to /2.0/client/devices/unknown/custom/unknown")
            #expect(try await board.latchkey("doctor").output.contains("it has reported an error, the last: may not"))

            await lab.stopBroker()
            let refused = try await UserBoard.refusal(board, "send", "--as", "user", "--user", "bob", "lost")
            #expect(["messaging.cannot-connect", "messaging.connection-lost"].contains(refused["code"] as? String))
            let failed = try await events.output.line(containing: "message.not-sent")
            #expect(failed.contains(#""as":"user""#))
            // What the board itself sends waits for the broker.
            _ = try await board.ask("send", "--user", "bob", "kept")
            let arrivals = lab.arrivals.subscribe()
            try await lab.startBroker()
            let kept = try UserBoard.envelope(try await UserBoard.arrival(arrivals, at: "/users/bob/custom/bob"))
            #expect(kept["Payload"] as? String == Data("kept".utf8).base64EncodedString())
            try await events.stop(SIGKILL)
        }
    }
}
