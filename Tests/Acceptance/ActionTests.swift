import Foundation
import GatewayLab
import TestSupport
import Testing

/// Commands that messages start.
@Suite("Actions", .timeLimit(.minutes(15)))
struct ActionTests {
    private func settings(_ socket: ActionSocket, _ command: [String], _ more: String = "allow_root = true") -> String {
        """
        [telemetry]
        enabled = false
        [[actions]]
        name = "act"
        filter = "act/#"
        command = [\(command.map { "\"\($0)\"" }.joined(separator: ", "))]
        socket = "\(socket.path)"
        \(more)
        """
    }

    /// Gives `body` a registered board with its action and a way to send to it.
    private func withAction(
        _ command: (ActionSocket) throws -> [String], _ more: String = "allow_root = true",
        _ body: (ActionSocket, TestBoard, (_ topic: String, _ message: String) async throws -> Void) async throws ->
            Void
    ) async throws {
        let socket = try ActionSocket()
        defer { socket.remove() }
        let settings = settings(socket, try command(socket), more)
        try await withLabAndBoard(settings: settings) { lab, board in
            _ = try await socket.listen(settings: board.configuration)
            let device = try #require(try await board.enroll(at: lab).registration.deviceID)
            try await lab.hasSubscription(to: "/act/#")
            let phone = try await SecondClient(named: "phone", user: "alice", at: lab, in: board.folder)
            try await body(socket, board) { topic, message in
                try await phone.publish(message, to: "/2.0/client/devices/\(device)/custom/\(topic)")
            }
        }
    }

    /// The runs of the action, once there are so many.
    private func runs(_ count: Int, at board: TestBoard) async throws -> [[String: Any]] {
        // Reported once it is on the disk.
        try await board.daemon?.errors.lines(count) { $0.contains("action.ended") || $0.contains("action.failed") }
        return try await board.ask("actions", "log", "act")["runs"] as? [[String: Any]] ?? []
    }

    private func state(of board: TestBoard) async throws -> (waiting: Int?, dead: Int?) {
        let action = (try await board.ask("actions")["actions"] as? [[String: Any]])?.first
        return (action?["waiting"] as? Int, action?["dead"] as? Int)
    }

    @Test("the command of an action gets payload and topic as they are, on standard input and in a variable")
    func hostile() async throws {
        let script = """
            #!/usr/bin/python3
            import json, os, sys
            folder = os.path.dirname(sys.argv[0])
            data = sys.stdin.buffer.read()
            said = {"payload": list(data), "arguments": sys.argv[1:], "variables": dict(os.environ)}
            said["descriptors"] = sorted(os.listdir("/proc/self/fd"))
            json.dump(said, open(folder + "/said.new", "w"))
            os.rename(folder + "/said.new", folder + "/said")
            """
        try await withAction({ [try $0.write(script), "--fixed"] }) { socket, board, send in
            let trap = socket.folder.appending(path: "trap").path
            let payload = Array("$(touch \(trap)); `touch \(trap)` ' \" \\ | & > \(trap)\n\0\u{1B}[2J".utf8)
            let envelope: [String: Any] = [
                "SenderId": "$(touch \(trap))", "SenderType": "USER", "SentTime": 1_767_225_600_000,
                "DisplayName": "a\nLD_PRELOAD=/x", "Payload": Data(payload).base64EncodedString(),
            ]
            let text = String(decoding: try JSONSerialization.data(withJSONObject: envelope), as: UTF8.self)
            try await send("act/$(touch \(trap.replacing("/", with: "_")))", text)
            let run = try await runs(1, at: board)[0]
            #expect(run["status"] as? Int == 0 && run["verdict"] as? String == "done", "\(run)")
            let said = try #require(
                try JSONSerialization.jsonObject(
                    with: try Data(contentsOf: socket.folder.appending(path: "said"))) as? [String: Any])
            #expect((said["payload"] as? [Int])?.map { UInt8($0) } == payload)
            #expect(said["arguments"] as? [String] == ["--fixed"])
            let variables = try #require(said["variables"] as? [String: String])
            #expect(variables["LATCHKEY_OWN_TOPIC"]?.hasPrefix("act/$(touch ") == true)
            #expect(variables["LATCHKEY_SENDER_ID"] == "$(touch \(trap))")
            #expect(variables["LATCHKEY_SENDER_NAME"] == "a LD_PRELOAD=/x")
            #expect(
                Set(variables.keys.filter { !$0.hasPrefix("LATCHKEY_") }).isSubset(of: [
                    "PATH", "HOME", "LANG", "LC_CTYPE",
                ]))
            // Its three streams, and the one that lists them.
            #expect((said["descriptors"] as? [String])?.count == 4, "\(said["descriptors"] ?? "")")
            #expect(!FileManager.default.fileExists(atPath: trap))
            #expect(try await state(of: board) == (0, 0))
        }
    }

    @Test("the time limit of an action ends the command with all that it started, and keeps what it wrote")
    func timeLimit() async throws {
        let script = """
            #!/bin/bash
            trap '' TERM
            setsid sleep 1000 & echo "child $!"
            ( setsid sleep 1000 & echo "orphan $!" )
            sleep 1000
            """
        try await withAction(
            { [try $0.write(script)] }, "allow_root = true\ntimeout_seconds = 5\nretries = 0"
        ) { _, board, send in
            try await send("act/a", "1")
            let run = try await runs(1, at: board)[0]
            #expect(run["timedOut"] as? Bool == true && run["verdict"] as? String == "dead", "\(run)")
            #expect(run["signal"] as? Int == Int(SIGKILL))
            let children = (run["output"] as? String ?? "").split(separator: "\n").compactMap {
                $0.split(separator: " ").last.flatMap { Int32($0) }
            }
            #expect(children.count == 2)
            for child in children { #expect(kill(child, 0) == -1 && errno == ESRCH, "\(child) goes on") }
            #expect(try await state(of: board) == (0, 1))
        }
    }

    @Test("an action that fails gets its message again, then the message is set aside and the next has its turn")
    func failing() async throws {
        let script = """
            #!/bin/bash
            read -r word
            echo "got $word, attempt $LATCHKEY_ATTEMPT"
            echo trouble >&2
            [ "$word" != bad ] || exit 3
            """
        try await withAction({ [try $0.write(script)] }, "allow_root = true\nretries = 1") { _, board, send in
            try await send("act/a", "bad")
            try await send("act/a", "good")
            let all = try await runs(3, at: board)
            #expect(all.map { $0["status"] as? Int } == [3, 3, 0])
            #expect(all.map { $0["verdict"] as? String } == ["again", "dead", "done"])
            #expect(all[1]["output"] as? String == "got bad, attempt 2\ntrouble\n")
            #expect(try await state(of: board) == (0, 1))
            _ = try await board.daemon?.errors.line(containing: "the message is set aside")
            #expect(try await board.ask("actions", "retry", "act")["count"] as? Int == 1)
            #expect(try await runs(5, at: board).map { $0["attempt"] as? Int } == [1, 2, 1, 1, 2])
            let missing = try await board.latchkey("actions", "log", "none", "--json")
            #expect(missing.errors.contains("agent.no-such-action"))
        }
    }

    @Test("no action runs as root unless the settings say so, and a message waits where there is no runner")
    func refused() async throws {
        let script = "#!/bin/bash\ntouch \"$(dirname \"$0\")/ran\"\n"
        try await withAction({ [try $0.write(script)] }, "retries = 0") { socket, board, send in
            try await send("act/a", "1")
            let run = try await runs(1, at: board)[0]
            let ran = FileManager.default.fileExists(atPath: socket.folder.appending(path: "ran").path)
            if getuid() == 0 {
                #expect((run["refusal"] as? String)?.contains("root") == true && !ran, "\(run)")
            } else {
                #expect(run["status"] as? Int == 0 && ran, "\(run)")
            }
            try FileManager.default.removeItem(atPath: socket.path)
            try await send("act/a", "2")
            _ = try await board.daemon?.errors.line(containing: "cannot be started")
            #expect(try await state(of: board).waiting == 1)
            #expect(try await runs(1, at: board).count == 1)
        }
    }
}
