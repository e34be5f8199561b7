import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("Commands on a terminal", .timeLimit(.minutes(15)))
struct TerminalTests {
    private func onTerminal(_ board: TestBoard, _ arguments: String...) throws -> TerminalProgram {
        try TerminalProgram(Program(name: "latchkey").url, arguments + ["--socket", board.socket])
    }

    private func withRegisteredBoard(_ body: (Lab, TestBoard) async throws -> Void) async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            try await body(lab, board)
        }
    }

    @Test("commands on a terminal accept a pasted line for enroll, without end of input")
    func enroll() async throws {
        try await withLabAndBoard { lab, board in
            let command = try onTerminal(board, "enroll", "-")
            try await command.shows("Paste the enrollment URL")
            command.type(try await lab.mintEnrollmentURL() + "\n")
            #expect(try await command.ended() == 0)
            #expect(command.screen.text.contains("registered"))
        }
    }

    @Test("commands on a terminal publish lines typed after a prompt")
    func publish() async throws {
        try await withRegisteredBoard { _, board in
            let command = try onTerminal(board, "publish", "door")
            try await command.shows("Ctrl-D")
            command.type("open\n\(TerminalProgram.control.d)")
            #expect(try await command.ended() == 0)
            #expect(command.screen.text.contains("accepted as message"))
        }
    }

    @Test("commands on a terminal report after Ctrl-C the exact number of accepted lines")
    func interrupted() async throws {
        try await withRegisteredBoard { lab, board in
            await lab.stopBroker()
            let before = try #require(try await board.status().outbox?.accepted)
            let command = try onTerminal(board, "publish", "log", "--lines")
            try await command.shows("Each line is a message")
            command.type("one\ntwo\nthree\n")
            try await command.shows("3 messages accepted")
            command.type("not whole\(TerminalProgram.control.c)")
            #expect(try await command.ended() == 130)
            #expect(command.screen.text.contains("interrupted; 3 messages accepted"))
            // The simulated board's own readings come beside them.
            #expect(try #require(try await board.status().outbox?.accepted) - before >= 3)
        }
    }

    @Test("commands on a terminal ask before removing a registration at the gateway, and change nothing on no")
    func deregister() async throws {
        try await withRegisteredBoard { lab, board in
            let refused = try onTerminal(board, "deregister")
            try await refused.shows("Continue? [y/N]")
            refused.type("n\n")
            #expect(try await refused.ended() == 1)
            #expect(refused.screen.text.contains("nothing was changed"))
            #expect(try await board.status().registration.state == "registered")

            let reset = try onTerminal(board, "reset")
            try await reset.shows("Continue? [y/N]")
            reset.type("\n")
            #expect(try await reset.ended() == 1)

            let command = try onTerminal(board, "deregister")
            try await command.shows("Continue? [y/N]")
            command.type("y\n")
            #expect(try await command.ended() == 0)
            #expect(try await board.status().registration.state == "unregistered")
        }
    }

    @Test(
        "commands on a terminal leave no prompt on the line of the shell after Ctrl-C",
        arguments: [["reset"], ["login", "--user", "alice"]])
    func prompt(arguments: [String]) async throws {
        try await withRegisteredBoard { _, board in
            let command = try TerminalProgram(Program(name: "latchkey").url, arguments + ["--socket", board.socket])
            try await command.shows(arguments.count == 1 ? "[y/N]" : "Password of alice")
            command.type(TerminalProgram.control.c)
            #expect(try await command.ended() == 130)
            #expect(command.screen.text.utf8.last == UInt8(ascii: "\n"))
        }
    }
}
