import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("M-Pin in tmux", .timeLimit(.minutes(15)))
struct MPinTmuxTests {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "mpin_tmux.py").path

    @Test("two M-Pin users log in side by side in tmux, one after a wrong PIN, and no screen shows a PIN")
    func people() async throws {
        try await MPinBoard.with { lab, board in
            let people = try RunningProgram(
                URL(filePath: "/usr/bin/python3"),
                [
                    "-B", Self.script, Program(name: "latchkey").url.path, board.socket, board.folder.path,
                    lab.adminURL,
                    lab.adminToken,
                ])
            let status = try await people.ended(within: 600)
            #expect(status == 0, "\(people.errors.text)")
            #expect(
                try await MPinBoard.states(board)
                    == ["alice@lab.example": "REGISTERED", "bob@lab.example": "REGISTERED"])
            #expect(await lab.mpinUsers().allSatisfy { $0.lastLogin != nil })
        }
    }
}
