import Bluetooth
import Groundwork
import Prompts
import TestSupport
import Testing

@testable import Proximity

/// What a press of the button means.
@Suite("Consent by the button", .timeLimit(.minutes(5)))
struct ConsentButtonTests: ConsentSuite {
    let scene = ConsentScene()

    @Test("a short press of the button is consent, and a long one a refusal")
    func button() async throws {
        let desk = desk()
        async let first = desk.ask(requester(1))
        try await isAsked(1)
        clock.move(by: .seconds(1))
        await desk.buttonPressed(at: clock.now)
        clock.move(by: .milliseconds(100))
        await desk.buttonReleased(at: clock.now)
        await clock.advance(by: .milliseconds(400))
        #expect(await first.decision == .granted(by: .button))

        async let second = desk.ask(requester(2))
        try await isAsked(2)
        clock.move(by: .seconds(1))
        await desk.buttonPressed(at: clock.now)
        await clock.advance(by: .milliseconds(1500))
        #expect(await second.decision == .refused(by: .button))
    }

    @Test("a press is checked before it counts as long, as its release may be reported late")
    func toldLate() async throws {
        let desk = scene.desk()
        var looks = desk.lookRequests.subscribe().makeAsyncIterator()
        async let answer = desk.ask(requester(1))
        try await isAsked(1)
        clock.move(by: .seconds(1))
        let begin = clock.now
        await desk.buttonPressed(at: begin)
        await clock.advance(by: .milliseconds(1500))
        await looks.next()
        clock.move(by: .milliseconds(3500))
        #expect(await desk.pending.count == 1)
        await desk.buttonReleased(at: begin + .milliseconds(200))
        await desk.buttonWatched(until: clock.now)
        #expect(await answer.decision == .granted(by: .button))
    }

    @Test("two presses of the button end sharing, and refuse all that waits")
    func doublePress() async throws {
        let desk = desk()
        async let first = desk.ask(requester(1))
        try await isAsked(1)
        async let second = desk.ask(requester(2))
        while await desk.pending.count < 2, !Task.isCancelled { await Task.yield() }
        clock.move(by: .seconds(1))
        for _ in 0..<2 {
            await desk.buttonPressed(at: clock.now)
            clock.move(by: .milliseconds(100))
            await desk.buttonReleased(at: clock.now)
        }
        #expect(await first.decision == .sharingEnded(by: .button))
        #expect(await second.decision == .sharingEnded(by: .button))
        try await recorder.log.wait(for: .sharingEndRequested(by: .button))
        // The second was never asked, and a press that ends sharing is no fault of the button's.
        #expect(recorder.names.filter { $0 == "consent-asked" }.count == 1)
        #expect(!recorder.names.contains("button-fault"))
    }

    @Test("a press that was under way is not consent, and is reported")
    func pressedBefore() async throws {
        let desk = desk()
        await desk.buttonPressed(at: clock.now)
        clock.move(by: .milliseconds(200))
        async let answer = desk.ask(requester(1))
        try await recorder.log.wait(for: .buttonFault(.downWhenAsked))
        await desk.buttonReleased(at: clock.now)
        try await recorder.log.wait(for: .buttonRecovered)
        await clock.advance(by: .seconds(30))
        #expect(await answer.decision == .timedOut)
    }

    @Test("a missing button is reported, and consent is asked in other ways")
    func missingButton() async throws {
        let desk = desk()
        await desk.buttonLost()
        try await recorder.log.wait(for: .buttonFault(.missing))
        async let answer = desk.ask(requester(1))
        try await recorder.log.wait(2) { $0 == .buttonFault(.missing) }
        try await desk.answer(1, grant: true, by: .user("root"))
        #expect(await answer.decision.isGranted)
    }
}
