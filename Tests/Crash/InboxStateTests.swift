import Foundation
import GatewayLab
import TestSupport
import Testing

/// An agent that is killed while it keeps a message, or while a command has it.
@Suite("Killed while a message waits", .timeLimit(.minutes(20)))
struct InboxStateTests {
    struct State: Sendable, CustomTestStringConvertible {
        let point: String
        /// How often the message may be there, or its command run.
        let times: ClosedRange<Int>
        let meaning: String

        var testDescription: String { "\(point): \(meaning)" }
    }

    static let inboxes = [
        State(point: "inbox-written", times: 1...1, meaning: "it was not kept; the broker sends it again"),
        State(point: "inbox-committed", times: 2...2, meaning: "it was kept, and the broker does not know"),
        State(point: "inbox-kept", times: 2...2, meaning: "it was kept, and the broker does not know"),
    ]
    static let actions = [
        State(point: "action-begun", times: 1...1, meaning: "its attempt was counted, and the command not started"),
        State(point: "action-answered", times: 2...2, meaning: "the command ended, and nobody knows"),
    ]
    static let changes = [
        State(point: "inbox-add-written", times: 0...0, meaning: "nobody was told that the inbox is there"),
        State(point: "inbox-added", times: 1...1, meaning: "it is there, and whoever asked does not know"),
        State(point: "inbox-remove-written", times: 1...1, meaning: "it is there with its messages"),
        State(point: "inbox-removed", times: 0...0, meaning: "it is gone, and whoever asked does not know"),
    ]
    static let points = Set((inboxes + actions + changes).map(\.point))

    @Test("a kill while a message waits in an inbox keeps it at least once", arguments: inboxes)
    func keeping(_ state: State) async throws {
        try await inTurn {
            let settings = "[[inbox]]\nname = \"orders\"\nfilter = \"orders\""
            try await withLabAndBoard(settings: DamageTests.quiet + "\n" + settings) { lab, board in
                try await kill(at: state, lab, board, topic: "orders")
                try await board.start()
                // It comes again once there is a connection.
                _ = try await board.status { $0.broker?.received ?? 0 > 0 }
                let found = try await board.ask("inbox")["inboxes"] as? [[String: Any]]
                #expect(state.times.contains(found?.first?["unread"] as? Int ?? 0))
                let text = try await board.latchkey("inbox", "read", "orders", "--payload", "line")
                #expect(Set(text.output.split(separator: "\n")) == ["message"])
            }
        }
    }

    @Test(
        "a kill while an inbox is added or removed leaves it whole, and the request can be repeated", arguments: changes
    )
    func changing(_ state: State) async throws {
        try await inTurn {
            try await withLabAndBoard(settings: DamageTests.quiet) { lab, board in
                _ = try await board.enroll(at: lab)
                _ = try await board.status { $0.isConnected }
                let isRemoval = state.point.hasPrefix("inbox-remove")
                if isRemoval {
                    _ = try await board.ask("inbox", "add", "orders", "orders")
                    _ = try await board.ask("publish", "orders", "before")
                    try await arrival("before", at: board)
                }
                try await board.stop()
                board.environment = ["LATCHKEY_KILL_AT": state.point]
                try await board.start()
                let daemon = try #require(board.daemon)
                _ = try await board.status { $0.isConnected }
                let words = isRemoval ? ["remove", "orders", "--yes"] : ["add", "orders", "orders"]
                let asking = try RunningProgram(
                    Program(name: "latchkey").url, ["inbox"] + words + ["--socket", board.socket])
                #expect(try await daemon.ended() == 128 + SIGKILL)
                #expect(try await asking.ended() != 0)
                board.environment = [:]
                try await board.start()
                _ = try await board.status { $0.isConnected }
                let found = try await board.ask("inbox")["inboxes"] as? [[String: Any]] ?? []
                #expect(state.times.contains(found.count))
                if isRemoval {
                    #expect(found.allSatisfy { $0["unread"] as? Int == 1 })
                    let again = try await board.latchkey("inbox", "remove", "orders", "--yes", "--json")
                    #expect(found.isEmpty == again.errors.contains("messaging.no-such-inbox"), "\(again.errors)")
                } else {
                    let again = try await board.ask("inbox", "add", "orders", "orders")
                    #expect(again["changed"] as? Bool == found.isEmpty)
                    _ = try await board.ask("publish", "orders", "after")
                    try await arrival("after", at: board)
                }
            }
        }
    }

    /// Waits until the message is in the inbox.
    private func arrival(_ text: String, at board: TestBoard) async throws {
        let reader = try board.follow("inbox", "read", "orders", "--follow")
        _ = try await reader.output.line(containing: text)
        try await reader.stop(SIGKILL)
    }

    @Test("a kill during an action still gives its command each message at least once", arguments: actions)
    func acting(_ state: State) async throws {
        try await inTurn {
            let socket = try ActionSocket()
            defer { socket.remove() }
            let command = try socket.write(
                "#!/bin/bash\nread -r word\necho \"$word $LATCHKEY_ATTEMPT\" >> \"$(dirname \"$0\")/ran\"\n")
            let settings = """
                [[actions]]
                name = "act"
                filter = "act"
                command = ["\(command)"]
                socket = "\(socket.path)"
                allow_root = true
                """
            try await withLabAndBoard(settings: DamageTests.quiet + "\n" + settings) { lab, board in
                try await killActing(at: state, lab, board, socket)
                try await board.start()
                _ = try await board.daemon?.errors.line(containing: "action.ended")
                let ran = try String(contentsOf: socket.folder.appending(path: "ran"), encoding: .utf8)
                let lines = ran.split(separator: "\n")
                #expect(state.times.contains(lines.count) && lines.last == "message 2", "\(ran)")
            }
        }
    }

    @Test("a message that ended the agent with each attempt is set aside without another one")
    func givenUp() async throws {
        try await inTurn {
            let socket = try ActionSocket()
            defer { socket.remove() }
            let command = try socket.write("#!/bin/bash\ntouch \"$(dirname \"$0\")/ran\"\n")
            let settings = """
                [[actions]]
                name = "act"
                filter = "act"
                command = ["\(command)"]
                socket = "\(socket.path)"
                retries = 0
                allow_root = true
                """
            try await withLabAndBoard(settings: DamageTests.quiet + "\n" + settings) { lab, board in
                try await killActing(at: Self.actions[0], lab, board, socket)
                try await board.start()
                _ = try await board.daemon?.errors.line(containing: "the message is set aside")
                let action = (try await board.ask("actions")["actions"] as? [[String: Any]])?.first
                #expect(action?["waiting"] as? Int == 0 && action?["dead"] as? Int == 1)
                #expect(!FileManager.default.fileExists(atPath: socket.folder.appending(path: "ran").path))
            }
        }
    }

    /// Has the agent killed while it handles a message to a topic of its own.
    private func kill(at state: State, _ lab: Lab, _ board: TestBoard, topic: String) async throws {
        let device = try #require(try await board.enroll(at: lab).registration.deviceID)
        _ = try await board.status { $0.isConnected }
        try await board.stop()
        board.environment = ["LATCHKEY_KILL_AT": state.point]
        try await board.start()
        let daemon = try #require(board.daemon)
        _ = try await board.status { $0.isConnected }
        try await publish(to: topic, of: device, lab, board)
        try await expectKilled(daemon, at: state, board)
    }

    /// Has the agent killed while its action has a message, which waited until there was a runner: so the broker knows
    /// that it was kept, and does not send it again.
    private func killActing(at state: State, _ lab: Lab, _ board: TestBoard, _ socket: ActionSocket) async throws {
        let device = try #require(try await board.enroll(at: lab).registration.deviceID)
        _ = try await board.status { $0.isConnected }
        try await publish(to: "act", of: device, lab, board)
        _ = try await board.daemon?.errors.line(containing: "cannot be started")
        try await board.stop()
        _ = try await socket.listen(settings: board.configuration)
        board.environment = ["LATCHKEY_KILL_AT": state.point]
        try await expectKilled(board.launch(), at: state, board)
    }

    private func publish(to topic: String, of device: String, _ lab: Lab, _ board: TestBoard) async throws {
        let phone = try await SecondClient(named: "phone", user: "alice", at: lab, in: board.folder)
        try await phone.publish("message", to: "/2.0/client/devices/\(device)/custom/\(topic)")
    }

    private func expectKilled(_ daemon: RunningProgram, at state: State, _ board: TestBoard) async throws {
        #expect(try await daemon.ended() == 128 + SIGKILL)
        #expect(daemon.errors.lines.contains("killed at \(state.point)"))
        board.environment = [:]
    }
}
