import Cryptography
import Groundwork
import Synchronization
import TestSupport
import Testing

@testable import Prompts

@Suite("The prompt desk", .timeLimit(.minutes(5)))
struct PromptDeskTests {
    let clock: ManualClock
    let desk: PromptDesk
    let events = Log<PromptEvent>()

    init() {
        clock = ManualClock()
        desk = PromptDesk(clock: clock)
        Task { [told = desk.events.subscribe(), events] in for await event in told { events.append(event) } }
    }

    private let question = PromptQuestion(
        .password, "Password of alice", attempts: 3, about: .account(userName: "alice"))
    private let alice = Answerer.user("alice")

    private static func text(_ text: String) -> PromptAnswer { .text(SecretBytes(utf8: text)) }

    /// Opens a prompt whose asker only notes what came of it.
    private func open(_ question: PromptQuestion, patience: Duration? = .seconds(30)) throws -> (
        Int, Log<PromptOutcome>
    ) {
        let outcomes = Log<PromptOutcome>()
        return (try desk.open(question, patience: patience) { outcomes.append($0) }, outcomes)
    }

    /// Asks until the password is right, as a log-in does.
    private func logIn(_ question: PromptQuestion? = nil, onAsk: @escaping @Sendable (Prompt) -> Void = { _ in })
        -> Task<String, any Error>
    {
        Task { [desk, own = self.question] in
            try await desk.ask(question ?? own, patience: .seconds(60), onAsk: onAsk) { answer, _, answerer in
                answer == Self.text("right")
                    ? .right("\(answerer)") : .wrong(Wrong(), fault: "the password is wrong")
            }
        }
    }

    private struct Wrong: Error {}

    /// The `count`th time that something is asked.
    @discardableResult
    private func asked(_ count: Int = 1) async throws -> Prompt {
        try await events.wait(count) { if case .asked = $0 { true } else { false } }.prompt
    }

    // MARK: Outcomes

    @Test("the prompt desk reports what was answered, by whom and by which way, once")
    func answered() async throws {
        let asking = logIn()
        let prompt = try await asked()
        #expect(
            prompt.id == 1 && prompt.attemptsLeft == 3 && prompt.state == .waiting && prompt.timeLeft == .seconds(60))
        #expect(desk.prompts == [prompt])
        await clock.sleeper()
        try desk.answer(1, Self.text("right"), by: .program("pin pad of user root"), uid: 0)
        #expect(try await asking.value == "program pin pad of user root")
        #expect(!clock.hasSleeper, "nothing waits for its end any more")
        #expect(desk.prompts.isEmpty)
        #expect(throws: PromptError.unknown(id: 1)) { try desk.answer(1, Self.text("right"), by: alice, uid: 0) }
    }

    @Test("a prompt asks again after a wrong answer, under the same number, until no attempt is left")
    func wrong() async throws {
        let seen = Log<Prompt>()
        let asking = logIn { seen.append($0) }
        for attempt in 1...3 {
            try await seen.wait(attempt) { _ in true }
            try desk.answer(1, Self.text("wrong"), by: alice, uid: 0)
        }
        await #expect(throws: Wrong.self) { try await asking.value }
        #expect(seen.entries.map(\.id) == [1, 1, 1])
        #expect(seen.entries.map(\.attemptsLeft) == [3, 2, 1])
        #expect(seen.entries.map(\.fault) == [nil, "the password is wrong", "the password is wrong"])
        #expect(desk.prompts.isEmpty)
    }

    @Test("a prompt ends when somebody refuses, and says who")
    func refused() async throws {
        let asking = logIn()
        try await asked()
        try desk.refuse(1, by: alice, uid: 0)
        await #expect(throws: PromptError.declined(kind: .password, by: "user alice")) { try await asking.value }
        #expect(try await events.wait { if case .refused = $0 { true } else { false } }.report.name == "prompt.refused")
    }

    @Test("a prompt ends when nobody answers in time, each attempt having a time of its own")
    func expired() async throws {
        let asking = logIn()
        try await asked()
        clock.move(by: .seconds(50))
        try desk.answer(1, Self.text("wrong"), by: alice, uid: 0)
        try await asked(2)
        clock.move(by: .seconds(59))
        #expect(desk.prompts.map(\.timeLeft) == [.seconds(1)])
        await clock.advance(by: .seconds(1))
        await #expect(throws: PromptError.timedOut(kind: .password)) { try await asking.value }
        #expect(try await events.wait { if case .expired = $0 { true } else { false } }.prompt.attemptsLeft == 2)
    }

    @Test("a prompt is withdrawn when its asker has left, even before it was asked")
    func withdrawn() async throws {
        let asking = logIn()
        try await asked()
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
        try await events.wait { if case .withdrawn = $0 { true } else { false } }
        #expect(desk.prompts.isEmpty)
        #expect(throws: PromptError.unknown(id: 1)) { try desk.answer(1, Self.text("right"), by: alice, uid: 0) }

        let gate = Gate()
        let late = Task { [desk, question] in
            await gate.pass()
            return try await desk.ask(question, patience: .seconds(60)) { _, _, _ in .right(true) }
        }
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
        #expect(desk.prompts.isEmpty)
    }

    @Test("the prompt desk withdraws everything when it is closed, and reports nothing afterwards")
    func closed() async throws {
        let (asking, outcomes) = (logIn(), try open(PromptQuestion(.consent, "Let in?")).1)
        try await asked(2)
        desk.close()
        await #expect(throws: CancellationError.self) { try await asking.value }
        #expect(outcomes.entries == [.withdrawn])
        #expect(desk.prompts.isEmpty)
        var later = desk.events.subscribe().makeAsyncIterator()
        #expect(await later.next() == nil)
    }

    // MARK: Races

    @Test("a prompt takes one of two answers that come at once, and tells the other so")
    func twoAnswers() async throws {
        for _ in 0..<100 {
            let (id, outcomes) = try open(PromptQuestion(.consent, "Let in?"))
            let taken = await withTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask { [desk] in (try? desk.answer(id, .grant, by: .button, uid: 0)) != nil }
                    group.addTask { [desk] in (try? desk.refuse(id, by: .user("bob"), uid: 1)) != nil }
                }
                return await group.reduce(into: 0) { count, isTaken in count += isTaken ? 1 : 0 }
            }
            #expect(taken == 1)
            #expect(outcomes.entries.count == 1)
        }
    }

    @Test("an answer, the asker's own decision or the end of its time decides a prompt, and only one of them")
    func answerAgainstEnd() async throws {
        for _ in 0..<100 {
            let (id, outcomes) = try open(PromptQuestion(.consent, "Let in?"))
            async let isAnswered = Task.detached { [desk] in (try? desk.answer(id, .grant, by: .button, uid: 0)) != nil
            }.value
            async let isEnded = Task.detached { [desk] in desk.end(id, as: .refused(by: .button)) }.value
            clock.move(by: .seconds(30))
            let (answered, ended) = (await isAnswered, await isEnded)
            let outcome = try await events.wait { $0.prompt.id == id && !$0.isAsked }
            #expect(!(answered && ended))
            switch outcome {
            case .answered: #expect(answered && !ended && outcomes.entries.count == 1)
            case .refused: #expect(ended && !answered && outcomes.entries.isEmpty)
            case .expired:
                #expect(!ended && !answered)
                #expect(try await outcomes.wait { _ in true } == .expired)
            case .asked, .withdrawn: Issue.record("\(outcome)")
            }
        }
        for id in 1...100 { #expect(events.entries.count { $0.prompt.id == id } == 2) }
    }

    @Test("a prompt takes an answer or the asker's leaving, never both")
    func answerAgainstCancellation() async throws {
        for round in 1...100 {
            let asking = logIn()
            let prompt = try await asked(round)
            async let isAnswered = Task.detached { [desk, alice] in
                (try? desk.answer(prompt.id, Self.text("right"), by: alice, uid: 0)) != nil
            }.value
            asking.cancel()
            let result = await asking.result
            #expect(await isAnswered == ((try? result.get()) != nil))
            #expect(desk.prompts.isEmpty)
        }
    }

    @Test("a prompt is not answered while an answer is being checked, nor ends by time then")
    func checking() async throws {
        let gate = Gate()
        let asking = Task { [desk, question] in
            try await desk.ask(question, patience: .seconds(60)) { _, _, _ in
                await gate.pass()
                return .right(true)
            }
        }
        try await asked()
        try desk.answer(1, Self.text("one"), by: alice, uid: 0)
        #expect(desk.prompts.map(\.state) == [.checking])
        #expect(throws: PromptError.alreadyAnswered(id: 1)) { try desk.answer(1, Self.text("two"), by: alice, uid: 0) }
        #expect(throws: PromptError.alreadyAnswered(id: 1)) { try desk.refuse(1, by: alice, uid: 0) }
        clock.move(by: .seconds(3600))
        gate.open()
        #expect(try await asking.value)
    }

    // MARK: Bounds

    @Test("the prompt desk refuses a ninth question of a kind, drops none that waits, and still takes consent")
    func overflow() throws {
        for _ in 0..<PromptDesk.limitPerKind { _ = try open(question) }
        #expect(throws: PromptError.tooMany(kind: .password, limit: 8)) { try open(question) }
        let (id, _) = try open(PromptQuestion(.consent, "Let in?"))
        #expect(desk.prompts.map(\.id) == Array(1...9) && id == 9)
        try desk.refuse(3, by: alice, uid: 0)
        #expect(try open(question).0 == 10)
    }

    @Test("a prompt refuses answers that are empty, too long, of another form or no choice, and waits on")
    func forms() throws {
        let (password, typed) = try open(question)
        let (choice, chosen) = try open(PromptQuestion(.choice, "Which certificate?", choices: ["a", "b"]))
        let (consent, _) = try open(PromptQuestion(.consent, "Let in?"))
        for (id, answer, error) in [
            (password, .grant, PromptError.wrongForm(id: password, kind: .password)),
            (password, Self.text(""), .emptyAnswer(id: password)),
            (password, Self.text(String(repeating: "a", count: 1025)), .answerTooLong(limit: 1024)),
            (choice, Self.text("a"), .wrongForm(id: choice, kind: .choice)),
            (choice, .choice("c"), .noSuchChoice(id: choice)),
            (consent, .choice("a"), .wrongForm(id: consent, kind: .consent)),
        ] as [(Int, PromptAnswer, PromptError)] {
            #expect(throws: error) { try desk.answer(id, answer, by: alice, uid: 0) }
        }
        let longest = Self.text(String(repeating: "a", count: 1024))
        try desk.answer(password, longest, by: alice, uid: 0)
        try desk.answer(choice, .choice("b"), by: alice, uid: 0)
        #expect(typed.entries == [.answered(longest, by: alice)])
        #expect(chosen.entries == [.answered(.choice("b"), by: alice)])
    }

    @Test("a prompt for one user takes that user's answer, and nobody else's")
    func oneUser() throws {
        let (id, outcomes) = try open(PromptQuestion(.pin, "PIN", answerers: .user(uid: 1000)))
        #expect(throws: PromptError.forAnotherUser(id: id)) {
            try desk.answer(id, Self.text("1234"), by: .user("root"), uid: 0)
        }
        #expect(throws: PromptError.forAnotherUser(id: id)) { try desk.refuse(id, by: .user("root"), uid: 0) }
        #expect(outcomes.entries.isEmpty)
        try desk.answer(id, Self.text("1234"), by: alice, uid: 1000)
        #expect(outcomes.entries == [.answered(Self.text("1234"), by: alice)])
    }

    @Test("a prompt says what a display needs, and no event or description what was answered")
    func shown() async throws {
        let (id, outcomes) = try open(question)
        #expect(
            try desk.prompt(id).details == [
                "id": 1, "kind": "password", "text": "Password of alice", "secret": true, "answerers": "operators",
                "state": "waiting", "attemptsLeft": .null, "fault": .null, "secondsLeft": 30,
                "subject": ["user": "alice"],
            ])
        try desk.answer(id, Self.text("s3cret"), by: alice, uid: 0)
        let event = try await events.wait { !$0.isAsked }
        #expect(event.report.fields["by"] == "user alice")
        let told = "\(event) \(event.report) \(outcomes.entries)"
        #expect(!told.contains("s3cret") && told.contains("secret of 6 bytes"))
    }

    @Test("a prompt keeps its reserved number, and shows a time that its asker keeps")
    func reserved() throws {
        #expect(desk.reserve() == 1)
        let outcomes = Log<PromptOutcome>()
        let consent = PromptQuestion(.consent, "Let in “a”\nor b?", answerers: .operatorsAndButton)
        #expect(try desk.open(consent, as: 1, patience: nil) { outcomes.append($0) } == 1)
        #expect(desk.prompts.map(\.timeLeft) == [nil])
        #expect(desk.prompts.map(\.question.text) == ["Let in “a” or b?"])
        desk.show(1, timeLeft: .seconds(20))
        clock.move(by: .seconds(30))
        #expect(desk.prompts.map { $0.details["secondsLeft"] } == [0], "its asker ends it")
        #expect(desk.end(1, as: .expired))
        #expect(!desk.end(1, as: .expired))
        #expect(outcomes.entries.isEmpty && desk.prompts.isEmpty)
    }
}

extension PromptEvent {
    fileprivate var isAsked: Bool { if case .asked = self { true } else { false } }
}
