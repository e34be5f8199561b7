import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("A locked session whose unlocking takes a login by M-Pin", .timeLimit(.minutes(15)))
struct MPinUnlockTests {
    @Test("a locked session whose unlocking takes M-Pin needs both the passcode and the PIN")
    func unlocked() async throws {
        let settings = "[lock]\ndelay_seconds = 900\nmpin_account = \"door\"\nmpin_user = \"alice\""
        try await MPinBoard.with(settings: settings) { lab, board in
            _ = try await board.enroll(at: lab)
            try await UserBoard.logIn(board, as: "alice")
            // Nothing is locked for good.
            let early = try await MPinBoard.refusal(board, "lock", input: "2580\n")
            #expect(early == ("mpin.no-user-for-unlocking", 78))
            try await MPinBoard.register("alice", at: lab, on: board)
            try await MPinBoard.succeeds(board, "lock", input: "2580\n")

            let unlocking = try MPinBoard.terminal(board, "unlock")
            try await unlocking.shows("Passcode for the session of alice")
            unlocking.type("2580\n")
            try await unlocking.shows("PIN of alice at door")
            unlocking.type(MPinBoard.wrongPIN + "\n")
            try await unlocking.shows("the PIN is wrong")
            #expect(try await board.latchkey("whoami").output.contains("is locked"))
            unlocking.type(MPinBoard.pin + "\n")
            #expect(try await unlocking.ended() == 0)
            #expect(unlocking.screen.text.contains("unlocked; alice is logged in"))

            // A passcode that is wrong is not made right by the PIN.
            try await MPinBoard.succeeds(board, "lock", input: "2580\n")
            let again = try MPinBoard.terminal(board, "unlock")
            try await again.shows("Passcode for the session of alice")
            again.type("1111\n")
            try await again.shows("PIN of alice at door")
            again.type(MPinBoard.pin + "\n")
            try await again.shows("the passcode is wrong (")
            #expect(!again.screen.text.contains("attempts are left"), "\(again.screen.text)")
            #expect(try await board.latchkey("whoami").output.contains("is locked"))
            again.type(TerminalProgram.control.c)
            #expect(try await again.ended() == 130)
            // During the wait after it, nobody is asked for the PIN in vain.
            let asked = lab.requestCounts[.mpinPermit]
            let hasty = try await MPinBoard.refusal(board, "unlock", input: "2580\n")
            #expect(hasty == ("lock.too-soon", 75))
            #expect(lab.requestCounts[.mpinPermit] == asked)
        }
    }
}
