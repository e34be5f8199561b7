import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("latchkey wait", .timeLimit(.minutes(8)))
struct WaitTests {
    private func wait(_ board: TestBoard, _ arguments: String...) throws -> RunningProgram {
        try RunningProgram(Program(name: "latchkey").url, ["wait", "--socket", board.socket] + arguments)
    }

    @Test("latchkey wait waits for daemon, registration, broker and user, and for an empty outbox")
    func waits() async throws {
        let lab = try await Lab.start(LabConfiguration())
        let board = try TestBoard()
        let running = try wait(board, "--for", "running")
        let connected = try wait(board, "--for", "registered", "--for", "connected", "--json")
        try await board.start()
        #expect(try await running.ended() == 0, "\(running.errors.text)")
        #expect(running.output.text.hasPrefix("running: yes"))

        let over = try await board.latchkey("wait", "--for", "registered", "--timeout", "0", "--json")
        #expect(over.status == 75)
        #expect(over.errors.contains("\"code\":\"wait.time-over\""), "\(over.errors)")

        _ = try await board.enroll(at: lab)
        #expect(try await connected.ended() == 0, "\(connected.errors.text)")
        #expect(connected.output.text.contains("\"states\":[\"registered\",\"connected\"]"))

        let user = try wait(board, "--for", "user-logged-in", "--account", "gateway")
        #expect(
            try await board.latchkey("login", "--user", "alice", "--password-stdin", input: "alice-password\n").status
                == 0)
        #expect(try await user.ended() == 0, "\(user.errors.text)")

        let unknown = try await board.latchkey("wait", "--for", "token", "--account", "nowhere")
        #expect(unknown.status == 1)
        try await board.tearDown()
        await lab.stop()
    }

    @Test("latchkey wait ends when the broker has everything, and goes on across a restart of the daemon")
    func outbox() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.latchkey("wait", "--for", "broker")
            await lab.stopBroker()
            _ = try await board.latchkey("publish", "door/state", "open")
            let empty = try wait(board, "--for", "outbox-empty")
            let left = try await board.latchkey("wait", "--for", "outbox-empty", "--timeout", "1")
            #expect(left.status == 75 && left.errors.contains("not within 1 s"), "\(left.errors)")
            try await board.stop()
            try await lab.startBroker()
            try await board.start()
            #expect(try await empty.ended() == 0, "\(empty.errors.text)")
        }
    }
}
