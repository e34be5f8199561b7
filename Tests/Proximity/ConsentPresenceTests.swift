import Prompts
import TestSupport
import Testing

@testable import Proximity

/// Presses that prove that a person is at the board, beside questions of devices.
@Suite("A press as a proof of presence", .timeLimit(.minutes(5)))
struct ConsentPresenceTests: ConsentSuite {
    let scene = ConsentScene()

    /// Begins to wait for a press.
    private func begin(_ desk: ConsentDesk, patience: Duration = .seconds(30)) async -> Task<PressOutcome, Never> {
        let (waits, wait) = AsyncStream.makeStream(of: Void.self)
        let task = Task { await desk.awaitPress(patience: patience) { wait.finish() } }
        for await _ in waits {}
        return task
    }

    @Test("a short press is enough where nobody else asks")
    func pressed() async {
        let desk = desk()
        let waiting = await begin(desk)
        await press(desk)
        #expect(await waiting.value == .pressed)
    }

    @Test("a press from before does not count")
    func pressedBefore() async {
        let desk = desk()
        await desk.buttonPressed(at: clock.now)
        clock.move(by: .milliseconds(100))
        let waiting = await begin(desk)
        await desk.buttonReleased(at: clock.now)
        clock.move(by: .seconds(1))
        #expect(await desk.questions == 1)
        await press(desk)
        #expect(await waiting.value == .pressed)
    }

    @Test("a long press and a double press refuse")
    func refused() async {
        let desk = desk()
        var waiting = await begin(desk)
        await desk.buttonPressed(at: clock.now)
        await clock.advance(by: .milliseconds(1500))
        #expect(await waiting.value == .refused)
        await desk.buttonReleased(at: clock.now)

        clock.move(by: .seconds(6))
        waiting = await begin(desk)
        await desk.buttonPressed(at: clock.now)
        clock.move(by: .milliseconds(100))
        await desk.buttonReleased(at: clock.now)
        clock.move(by: .milliseconds(100))
        await desk.buttonPressed(at: clock.now)
        #expect(await waiting.value == .refused)
    }

    @Test("a press lets no stranger in who asks meanwhile, and proves nothing either")
    func strangerMeanwhile() async throws {
        let desk = desk()
        let waiting = await begin(desk)
        async let stranger = desk.ask(requester(1))
        try await recorder.log.wait(for: .consentAmbiguous(waiting: 2))
        #expect(await desk.light == .ambiguous)
        await press(desk)
        #expect(await stranger.decision == .ambiguous)
        #expect(await waiting.value == .ambiguous)
        #expect(await desk.light == nil)
    }

    @Test("a press right after a stranger's question has ended proves nothing; later it does")
    func strangerBefore() async throws {
        let desk = desk()
        async let stranger = desk.ask(requester(1))
        try await isAsked(1)
        let early = await begin(desk)
        try await desk.answer(1, grant: false, by: .program("keypad"))
        #expect(await stranger.decision == .refused(by: .program("keypad")))
        await press(desk)
        #expect(await early.value == .ambiguous)

        let late = await begin(desk)
        await clock.advance(by: .seconds(5))
        await press(desk)
        #expect(await late.value == .pressed)
    }

    @Test("a stranger who asks first is let in only by a press long after the proof has ended")
    func presenceLeaves() async throws {
        let desk = desk()
        let waiting = await begin(desk, patience: .seconds(10))
        async let stranger = desk.ask(requester(1))
        try await recorder.log.wait(for: .consentAmbiguous(waiting: 2))
        await clock.advance(by: .seconds(10))
        #expect(await waiting.value == .notPressed)
        await clock.advance(by: .seconds(5))
        try await recorder.log.wait { if case .consentUnambiguous = $0 { true } else { false } }
        await press(desk)
        #expect(await stranger.decision == .granted(by: .button))
    }

    @Test("only one waits at a time, and the next may when it has left")
    func busy() async {
        let desk = desk()
        let first = await begin(desk)
        #expect(await desk.awaitPress(patience: .seconds(30)) == .busy)
        first.cancel()
        #expect(await first.value == .notPressed)
        #expect(await desk.questions == 0)
    }
}
