import Bluetooth
import Groundwork
import Prompts
import TestSupport
import Testing

@testable import Proximity

/// Whom a press of the button means.
@Suite("Consent while several ask", .timeLimit(.minutes(5)))
struct ConsentAmbiguityTests: ConsentSuite {
    let scene = ConsentScene()

    @Test("a press lets nobody in while several ask, as the button cannot say whom it means")
    func ambiguous() async throws {
        let desk = desk()
        async let stranger = desk.ask(requester(1), about: "1")
        try await isAsked(1)
        #expect(await desk.light == .waiting)
        async let friend = desk.ask(requester(2), about: "2")
        try await recorder.log.wait(for: .consentAmbiguous(waiting: 2))
        #expect(await desk.light == .ambiguous)
        clock.move(by: .seconds(1))
        await press(desk)
        #expect(await stranger.decision == .ambiguous)
        #expect(await friend.decision == .ambiguous)
        #expect(records.entries.map(\.outcome) == [.refused, .refused])
        #expect(await desk.light == nil)
        // Whom nobody judged may ask again.
        async let again = desk.ask(requester(2), about: "2")
        try await isAsked(3)
        await clock.advance(by: .seconds(5))
        try await recorder.log.wait { if case .consentUnambiguous = $0 { true } else { false } }
        #expect(await desk.light == .waiting)
        await press(desk)
        #expect(await again.decision == .granted(by: .button))
    }

    @Test("a press right after another asker has gone lets nobody in, as a stranger may have replaced it")
    func tookThePlace() async throws {
        let desk = desk()
        let friend = Task { await desk.ask(requester(1)) }
        try await isAsked(1)
        friend.cancel()
        #expect(await friend.value.decision == .withdrawn)
        async let stranger = desk.ask(requester(2))
        try await isAsked(2)
        clock.move(by: .seconds(1))
        await press(desk)
        #expect(await stranger.decision == .ambiguous)
    }

    @Test("a press while others are turned away lets nobody in, as it may mean one of them")
    func turnedAway() async throws {
        let desk = desk { $0.waitingLimit = 1 }
        async let stranger = desk.ask(requester(1))
        try await isAsked(1)
        #expect(await desk.ask(requester(2)).decision == .busy)
        clock.move(by: .seconds(1))
        await press(desk)
        #expect(await stranger.decision == .ambiguous)
    }

    @Test("a press that began while several asked is not consent, even when one is alone by its end")
    func pressedTooEarly() async throws {
        let desk = desk()
        async let stranger = desk.ask(requester(1))
        try await isAsked(1)
        async let friend = desk.ask(requester(2))
        try await recorder.log.wait(for: .consentAmbiguous(waiting: 2))
        try await desk.answer(1, grant: false, by: .user("root"))
        #expect(await stranger.decision == .refused(by: .user("root")))
        try await recorder.log.wait(2) { if case .consentAmbiguous = $0 { true } else { false } }
        clock.move(by: .milliseconds(4950))
        await desk.buttonPressed(at: clock.now)
        await clock.advance(by: .milliseconds(50))
        try await recorder.log.wait { if case .consentUnambiguous = $0 { true } else { false } }
        clock.move(by: .milliseconds(100))
        await desk.buttonReleased(at: clock.now)
        try await recorder.log.wait(for: .buttonRecovered)
        await press(desk)
        #expect(await friend.decision == .granted(by: .button))
    }

    @Test("a long press refuses all who ask")
    func refusesAll() async throws {
        let desk = desk()
        async let one = desk.ask(requester(1))
        try await isAsked(1)
        async let two = desk.ask(requester(2))
        try await recorder.log.wait(for: .consentAmbiguous(waiting: 2))
        clock.move(by: .seconds(1))
        await desk.buttonPressed(at: clock.now)
        await clock.advance(by: .milliseconds(1500))
        #expect(await one.decision == .refused(by: .button))
        #expect(await two.decision == .refused(by: .button))
    }

    @Test("a press of the time when several asked is not consent, even when reported once one is alone")
    func ambiguousToldLate() async throws {
        let desk = scene.desk()
        var looks = desk.lookRequests.subscribe().makeAsyncIterator()
        async let stranger = desk.ask(requester(1))
        try await isAsked(1)
        async let friend = desk.ask(requester(2))
        try await recorder.log.wait(for: .consentAmbiguous(waiting: 2))
        try await desk.answer(1, grant: false, by: .user("root"))
        #expect(await stranger.decision == .refused(by: .user("root")))
        try await recorder.log.wait(2) { if case .consentAmbiguous = $0 { true } else { false } }
        clock.move(by: .milliseconds(4000))
        let begin = clock.now
        await desk.buttonPressed(at: begin)
        await desk.buttonReleased(at: begin + .milliseconds(200))
        await clock.advance(by: .milliseconds(600))
        await looks.next()
        clock.move(by: .milliseconds(5000))
        await desk.buttonWatched(until: clock.now)
        #expect(await friend.decision == .ambiguous)
    }
}
