import Cryptography
import Prompts
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentMPin
@testable import Board

@Suite("The keypad", .timeLimit(.minutes(5)))
struct KeypadServiceTests {
    @Test("the keypad is opened when a PIN is asked for, and an unreadable one is named while the question goes on")
    func failure() async throws {
        let desk = PromptDesk()
        let service = KeypadService(keypad: Keypad(path: "/dev/null"), prompts: desk)
        // What is not a PIN, and what only one user may answer, is not for everyone at the keypad.
        for question in [
            PromptQuestion(.password, "Password"), PromptQuestion(.pin, "PIN", answerers: .user(uid: 4711)),
        ] {
            try desk.open(question, patience: .seconds(60)) { _ in }
        }
        #expect(service.question == nil)
        let running = Task { try await service.run() }
        let id = try desk.open(PromptQuestion(.pin, "PIN"), patience: .seconds(60)) { _ in }
        await #expect(throws: BoardError.keypadFailed(path: "/dev/null", reason: "it is not an input device")) {
            try await running.value
        }
        #expect(try desk.prompt(id).state == .waiting)
    }

    @Test("the keypad's service ends when nothing will be asked any more")
    func end() async throws {
        let desk = PromptDesk()
        let running = Task {
            try await KeypadService(keypad: Keypad(path: "/dev/null"), prompts: desk).run()
        }
        desk.close()
        try await running.value
    }
}
