import Gateway
import TestSupport
import Testing

@testable import Agent

@Suite("A press of the button that unlocks a session", .timeLimit(.minutes(5)))
struct ButtonPresenceTests {
    /// Waits in the background; presses are taken from then on.
    private func waiting(_ presence: ButtonPresence) async -> Task<Void, any Error> {
        let task = Task { try await presence.wait(for: .seconds(60)) }
        while !presence.isAwaited, !Task.isCancelled { await Task.yield() }
        return task
    }

    @Test("a press that unlocks a session serves the one request that waits, and means nothing to others")
    func served() async throws {
        let presence = ButtonPresence()
        #expect(!presence.pressed())
        for _ in 0..<2 {
            let task = await waiting(presence)
            #expect(presence.pressed())
            #expect(!presence.pressed())
            try await task.value
        }
    }

    @Test("a press that unlocks a session is not waited for by two at once, and not for ever")
    func bounds() async throws {
        let presence = ButtonPresence()
        await #expect(throws: SessionLockError.buttonNotPressed) { try await presence.wait(for: .milliseconds(1)) }
        let first = await waiting(presence)
        await #expect(throws: SessionLockError.buttonBusy) { try await presence.wait(for: .seconds(60)) }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(!presence.pressed())
    }
}
