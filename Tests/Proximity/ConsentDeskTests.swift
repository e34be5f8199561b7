import Bluetooth
import Groundwork
import TestSupport
import Testing

@testable import Proximity

@Suite("The consent desk", .timeLimit(.minutes(1)))
struct ConsentDeskTests {
    let clock = ManualClock()
    let recorder = Recorder()
    let records = Log<AuditRecord>()

    func desk(_ change: (inout ConsentDesk.Settings) -> Void = { _ in }) -> ConsentDesk {
        var settings = ConsentDesk.Settings()
        change(&settings)
        let desk = unwatchedDesk(settings)
        // A button whose edges are all told at once.
        let looks = desk.lookRequests.subscribe()
        Task { [clock, weak desk] in for await _ in looks { await desk?.buttonWatched(until: clock.now) } }
        return desk
    }

    private func unwatchedDesk(_ settings: ConsentDesk.Settings = ConsentDesk.Settings()) -> ConsentDesk {
        ConsentDesk(settings: settings, clock: clock, events: recorder.events) { [records] in records.append($0) }
    }

    private func requester(_ number: UInt8) -> Requester {
        Requester(name: "Phone \(number)", address: "\(address(number))", way: .ble)
    }

    /// Lets the patience of a question pass that is not clear to the button at first.
    private func outwait() async {
        await clock.advance(by: .seconds(5))
        await clock.advance(by: .seconds(25))
    }

    private func isAsked(_ id: Int) async {
        await recorder.log.wait { if case .consentAsked(let request) = $0 { request.id == id } else { false } }
    }

    @Test("gives the answer of a person at the local API, once: the second answer has nothing to answer")
    func oneAnswer() async throws {
        let desk = desk()
        async let answer = desk.ask(requester(1))
        await isAsked(1)
        #expect(await desk.pending.map(\.requester) == [requester(1)])
        try await desk.answer(1, grant: true, by: .user("root"))
        await #expect(throws: ProximityError.noSuchRequest(id: 1)) {
            try await desk.answer(1, grant: false, by: .user("root"))
        }
        #expect(await answer.decision == .granted(by: .user("root")))
        #expect(await desk.pending.isEmpty)
    }

    @Test("takes no answer for a refusal, when its patience ends")
    func timeOut() async {
        let desk = desk()
        async let answer = desk.ask(requester(1))
        await clock.advance(by: .seconds(30))
        #expect(await answer.decision == .timedOut)
        #expect(records.entries.map(\.outcome) == [.refused])
    }

    @Test("asks one question at a time, each for the whole of its patience, and has no more than four wait")
    func line() async throws {
        let desk = desk { $0.waitingLimit = 2 }
        async let first = desk.ask(requester(1))
        await isAsked(1)
        async let second = desk.ask(requester(2))
        while await desk.pending.count < 2, !Task.isCancelled { await Task.yield() }
        #expect(await desk.ask(requester(3)).decision == .busy)
        #expect(recorder.names.filter { $0 == "consent-asked" }.count == 1)
        await clock.advance(by: .seconds(30))
        #expect(await first.decision == .timedOut)
        await isAsked(2)
        await outwait()
        #expect(await second.decision == .timedOut)
    }

    @Test("lets one requester ask six times a minute, and all together four times that")
    func rate() async {
        let desk = desk { $0.policy = .grantAll }
        for _ in 0..<6 { #expect(await desk.ask(requester(1)).decision == .granted(by: .policy)) }
        #expect(await desk.ask(requester(1)).decision == .tooMany)
        for number in 2..<20 { #expect(await desk.ask(requester(UInt8(number))).decision == .granted(by: .policy)) }
        #expect(await desk.ask(requester(20)).decision == .tooMany)
        clock.move(by: .seconds(60))
        #expect(await desk.ask(requester(1)).decision == .granted(by: .policy))
    }

    @Test("asks about a session once, whoever sends it and however its URL is spelled, until it is forgotten")
    func replayed() async throws {
        let desk = desk()
        async let first = desk.ask(requester(1), about: "7b")
        await isAsked(1)
        #expect(await desk.ask(requester(2), about: "7b").decision == .replayed, "also while it waits")
        try await desk.answer(1, grant: false, by: .user("root"))
        #expect(await first.decision == .refused(by: .user("root")))
        #expect(await desk.ask(requester(2), about: "7b").decision == .replayed)
        #expect(records.entries.map(\.decision) == [.refused(by: .user("root"))], "who was turned away is not recorded")
        async let silent = desk.ask(requester(2), about: "8c")
        await outwait()
        #expect(await silent.decision == .timedOut)
        #expect(await desk.ask(requester(3), about: "8c").decision == .replayed)
        clock.move(by: .seconds(900))
        async let later = desk.ask(requester(3), about: "7b")
        await clock.advance(by: .seconds(30))
        #expect(await later.decision == .timedOut)
    }

    @Test(
        "asks again about a session that nobody was asked about, and about a code that is scanned again when nobody answered"
    )
    func notReplayed() async {
        let desk = desk { $0.waitingLimit = 1 }
        async let first = desk.ask(Requester(name: nil, address: nil, way: .qr), about: "7b")
        await isAsked(1)
        #expect(await desk.ask(requester(2), about: "8c").decision == .busy)
        await outwait()
        #expect(await first.decision == .timedOut)
        async let again = desk.ask(Requester(name: nil, address: nil, way: .qr), about: "7b")
        await outwait()
        #expect(await again.decision == .timedOut)
        async let other = desk.ask(requester(2), about: "8c")
        await outwait()
        #expect(await other.decision == .timedOut)
    }

    // MARK: Several who ask

    private func press(_ desk: ConsentDesk) async {
        await desk.buttonPressed(at: clock.now)
        clock.move(by: .milliseconds(100))
        await desk.buttonReleased(at: clock.now)
        await clock.advance(by: .milliseconds(400))
    }

    @Test("lets nobody in by a press while several ask: the button cannot tell whom it means")
    func ambiguous() async {
        let desk = desk()
        async let stranger = desk.ask(requester(1), about: "1")
        await isAsked(1)
        #expect(await desk.light == .waiting)
        async let friend = desk.ask(requester(2), about: "2")
        await recorder.log.wait(for: .consentAmbiguous(waiting: 2))
        #expect(await desk.light == .ambiguous)
        clock.move(by: .seconds(1))
        await press(desk)
        #expect(await stranger.decision == .ambiguous)
        #expect(await friend.decision == .ambiguous)
        #expect(records.entries.map(\.outcome) == [.refused, .refused])
        #expect(await desk.light == nil)
        // Whom nobody judged may ask again.
        async let again = desk.ask(requester(2), about: "2")
        await isAsked(3)
        await clock.advance(by: .seconds(5))
        await recorder.log.wait { if case .consentUnambiguous = $0 { true } else { false } }
        #expect(await desk.light == .waiting)
        await press(desk)
        #expect(await again.decision == .granted(by: .button))
    }

    @Test("lets nobody in by a press right after another one who asked has gone, whose place a stranger may have taken")
    func tookThePlace() async {
        let desk = desk()
        let friend = Task { await desk.ask(requester(1)) }
        await isAsked(1)
        friend.cancel()
        #expect(await friend.value.decision == .withdrawn)
        async let stranger = desk.ask(requester(2))
        await isAsked(2)
        clock.move(by: .seconds(1))
        await press(desk)
        #expect(await stranger.decision == .ambiguous)
    }

    @Test("lets nobody in by a press while others are turned away: whoever presses may mean one of them")
    func turnedAway() async {
        let desk = desk { $0.waitingLimit = 1 }
        async let stranger = desk.ask(requester(1))
        await isAsked(1)
        #expect(await desk.ask(requester(2)).decision == .busy)
        clock.move(by: .seconds(1))
        await press(desk)
        #expect(await stranger.decision == .ambiguous)
    }

    @Test("takes a press that began while several asked for none, also when one is alone by its end")
    func pressedTooEarly() async throws {
        let desk = desk()
        async let stranger = desk.ask(requester(1))
        await isAsked(1)
        async let friend = desk.ask(requester(2))
        await recorder.log.wait(for: .consentAmbiguous(waiting: 2))
        try await desk.answer(1, grant: false, by: .user("root"))
        #expect(await stranger.decision == .refused(by: .user("root")))
        await recorder.log.wait(2) { if case .consentAmbiguous = $0 { true } else { false } }
        clock.move(by: .milliseconds(4950))
        await desk.buttonPressed(at: clock.now)
        await clock.advance(by: .milliseconds(50))
        await recorder.log.wait { if case .consentUnambiguous = $0 { true } else { false } }
        clock.move(by: .milliseconds(100))
        await desk.buttonReleased(at: clock.now)
        await recorder.log.wait(for: .buttonRecovered)
        await press(desk)
        #expect(await friend.decision == .granted(by: .button))
    }

    @Test("takes a long press for a refusal of all who ask")
    func refusesAll() async {
        let desk = desk()
        async let one = desk.ask(requester(1))
        await isAsked(1)
        async let two = desk.ask(requester(2))
        await recorder.log.wait(for: .consentAmbiguous(waiting: 2))
        clock.move(by: .seconds(1))
        await desk.buttonPressed(at: clock.now)
        await clock.advance(by: .milliseconds(1500))
        #expect(await one.decision == .refused(by: .button))
        #expect(await two.decision == .refused(by: .button))
    }

    @Test("withdraws the question when whoever asked gives up")
    func withdrawn() async {
        let desk = desk()
        let asking = Task { await desk.ask(requester(1)) }
        await isAsked(1)
        asking.cancel()
        #expect(await asking.value.decision == .withdrawn)
        #expect(await desk.pending.isEmpty)
    }

    @Test("refuses at once where nobody is to be asked (MAG 8.5)")
    func nobody() async {
        let answer = await desk { $0.policy = .refuseAll }.ask(requester(1))
        #expect(!answer.decision.isGranted)
        #expect(answer.decision.error == .nobodyToAsk)
        #expect(answer.decision.error?.numbers == ErrorNumbers(android: 121, ios: 650_005))
    }

    @Test("records who, how, by whose consent and with what outcome, each once")
    func audit() async throws {
        let desk = desk()
        async let granted = desk.ask(requester(1), inNameOf: "alice")
        await isAsked(1)
        try await desk.answer(1, grant: true, by: .program("test"))
        let answer = await granted
        #expect(records.entries.isEmpty, "what came of it is not known yet")
        await desk.conclude(answer, .failed(code: "gateway.refused"))
        await desk.conclude(answer, .authorized)
        async let refused = desk.ask(Requester(name: nil, address: nil, way: .qr))
        await isAsked(2)
        try await desk.answer(2, grant: false, by: .user("root"))
        _ = await refused
        let records = records.entries.map(\.json)
        #expect(records.map { $0["id"] } == [1, 2])
        #expect(records.map { $0["decision"] } == ["granted", "refused"])
        #expect(records.map { $0["by"] } == ["program test", "user root"])
        #expect(records.map { $0["outcome"] } == ["failed", "refused"])
        #expect(records.map { $0["code"] } == ["gateway.refused", nil])
        #expect(records.map { $0["address"] } == ["C0:FF:EE:00:00:01", .null])
        #expect(records.map { $0["name"] } == ["Phone 1", .null])
        #expect(records.map { $0["way"] } == ["ble", "qr"])
        #expect(records.map { $0["user"] } == ["alice", .null])
        #expect(records.map { $0["time"] } == ["2030-03-17T17:46:40Z", "2030-03-17T17:46:40Z"])
    }

    @Test("takes a short press for a grant and a long one for a refusal")
    func button() async {
        let desk = desk()
        async let first = desk.ask(requester(1))
        await isAsked(1)
        clock.move(by: .seconds(1))
        await desk.buttonPressed(at: clock.now)
        clock.move(by: .milliseconds(100))
        await desk.buttonReleased(at: clock.now)
        await clock.advance(by: .milliseconds(400))
        #expect(await first.decision == .granted(by: .button))

        async let second = desk.ask(requester(2))
        await isAsked(2)
        clock.move(by: .seconds(1))
        await desk.buttonPressed(at: clock.now)
        await clock.advance(by: .milliseconds(1500))
        #expect(await second.decision == .refused(by: .button))
    }

    @Test("looks at the button before it takes a press for a long one: that it was let go may be told late")
    func toldLate() async {
        let desk = unwatchedDesk()
        var looks = desk.lookRequests.subscribe().makeAsyncIterator()
        async let answer = desk.ask(requester(1))
        await isAsked(1)
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

    @Test("takes a press of the time when several asked for none of the time when one is alone, also when told late")
    func ambiguousToldLate() async throws {
        let desk = unwatchedDesk()
        var looks = desk.lookRequests.subscribe().makeAsyncIterator()
        async let stranger = desk.ask(requester(1))
        await isAsked(1)
        async let friend = desk.ask(requester(2))
        await recorder.log.wait(for: .consentAmbiguous(waiting: 2))
        try await desk.answer(1, grant: false, by: .user("root"))
        #expect(await stranger.decision == .refused(by: .user("root")))
        await recorder.log.wait(2) { if case .consentAmbiguous = $0 { true } else { false } }
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

    @Test("ends sharing at two presses, and refuses all that waits")
    func doublePress() async {
        let desk = desk()
        async let first = desk.ask(requester(1))
        await isAsked(1)
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
        await recorder.log.wait(for: .sharingEndRequested(by: .button))
    }

    @Test("does not take a press that was under way for consent, and tells of it")
    func pressedBefore() async {
        let desk = desk()
        await desk.buttonPressed(at: clock.now)
        clock.move(by: .milliseconds(200))
        async let answer = desk.ask(requester(1))
        await recorder.log.wait(for: .buttonFault(.downWhenAsked))
        await desk.buttonReleased(at: clock.now)
        await recorder.log.wait(for: .buttonRecovered)
        await clock.advance(by: .seconds(30))
        #expect(await answer.decision == .timedOut)
    }

    @Test("asks others when the button is missing")
    func missingButton() async throws {
        let desk = desk()
        await desk.buttonLost()
        await recorder.log.wait(for: .buttonFault(.missing))
        async let answer = desk.ask(requester(1))
        await recorder.log.wait(2) { $0 == .buttonFault(.missing) }
        try await desk.answer(1, grant: true, by: .user("root"))
        #expect(await answer.decision.isGranted)
    }

    @Test("has a light for each answer, and none for a request that is turned away meanwhile")
    func light() {
        let (one, two) = (request(1), request(2))
        var choice = ConsentLightChoice()
        #expect(choice.take(.sharingStarted) == nil)
        #expect(choice.take(.consentAsked(one)) == .waiting)
        #expect(choice.take(.consentAnswered(two, .busy)) == nil)
        #expect(choice.take(.consentAnswered(one, .granted(by: .button))) == .granted)
        #expect(choice.take(.consentAsked(two)) == .waiting)
        #expect(choice.take(.consentAnswered(two, .timedOut)) == .refused)
        #expect(choice.take(.consentAnswered(one, .tooMany)) == nil)
        #expect(choice.take(.consentAnswered(one, .granted(by: .policy))) == .granted)
        #expect(choice.take(.consentAsked(one)) == .waiting)
        #expect(choice.take(.consentAmbiguous(waiting: 2)) == .ambiguous)
        #expect(choice.take(.consentUnambiguous(two)) == .waiting)
        #expect(choice.take(.consentAnswered(two, .ambiguous)) == .refused)
        #expect(Set(ConsentLight.allCases.map { "\($0.pattern)" }).count == 4, "they look different")
        #expect(
            ConsentLight.waiting.lasts == nil && ConsentLight.ambiguous.lasts == nil
                && ConsentLight.granted.lasts != nil)
    }

    private func request(_ id: Int) -> ConsentRequest {
        ConsentRequest(id: id, requester: requester(1), date: clock.date)
    }
}
