import Cryptography
public import Groundwork
import Synchronization

/// Manages all open questions to people, from every asker and for every way of answering.
///
/// The first of these ends a question, atomically under a lock: an answer, a refusal, the end of its time, or the
/// asker's leaving. It is a lock instead of an actor so that an asker that is an actor itself, and decides by a button,
/// need not suspend between its decision and the end of the question.
public final class PromptDesk: Sendable {
    /// The maximum number of open prompts of one kind. A further question fails; open ones are never dropped. The limit
    /// is per kind so that logins cannot block questions for consent.
    public static let limitPerKind = 8

    /// Gets the outcome of a question that was not ended by its asker. Called without the lock; must not block.
    public typealias Taker = @Sendable (PromptOutcome) -> Void

    /// All events of prompts, in the order of the decisions.
    public let events = Broadcast<PromptEvent>()

    private struct Open {
        let question: PromptQuestion
        var state = Prompt.State.waiting
        var attemptsLeft: Int?
        var fault: String?
        var deadline: Duration?
        /// Whether the asker checks an answer and may ask again; the prompt stays open until then.
        let isChecked: Bool
        let take: Taker
        var alarm: Task<Void, Never>?
    }

    private struct State {
        var lastID = 0
        var open: [Int: Open] = [:]
    }

    private let clock: any PromptClock
    private let state = Mutex(State())

    public init(clock: any PromptClock = MachineClock()) { self.clock = clock }

    /// Changes the state, and then delivers the events of the change: not under the lock, as a subscriber that is
    /// canceled holds locks of its own while it withdraws its question.
    private func change<Result>(_ body: (inout State) -> sending Result) -> Result {
        defer { events.deliver() }
        return state.withLock(body)
    }

    // MARK: Asking

    /// A number for a question that may be decided before it is asked; no other prompt gets it.
    public func reserve() -> Int {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    /// Opens a prompt for an asker that may also decide by itself, such as by a button that it watches
    /// (``end(_:as:)``).
    ///
    /// - Parameters:
    ///   - id: the number from ``reserve()``, if it was called for this question.
    ///   - patience: how long it can be answered; `nil` if the asker itself ends it in time (``show(_:timeLeft:)``).
    ///   - take: called once with the outcome, unless the asker ended the prompt.
    /// - Returns: the prompt's number.
    /// - Throws: ``PromptError/tooMany(kind:limit:)``
    @discardableResult
    public func open(_ question: PromptQuestion, as id: Int? = nil, patience: Duration?, _ take: @escaping Taker)
        throws(PromptError) -> Int
    {
        try open(question, as: id, patience: patience, isChecked: false, take).id
    }

    func open(
        _ question: PromptQuestion, as id: Int? = nil, patience: Duration?, isChecked: Bool, _ take: @escaping Taker
    ) throws(PromptError) -> Prompt {
        let prompt: Prompt? = change { state in
            guard state.open.values.count(where: { $0.question.kind == question.kind }) < Self.limitPerKind else {
                return nil
            }
            if id == nil { state.lastID += 1 }
            let id = id ?? state.lastID
            state.open[id] = Open(
                question: question, attemptsLeft: isChecked ? question.attempts : nil, isChecked: isChecked, take: take)
            return ask(id, &state, patience)
        }
        guard let prompt else { throw .tooMany(kind: question.kind, limit: Self.limitPerKind) }
        return prompt
    }

    /// Asks again after a wrong answer, under the same number.
    ///
    /// - Parameter attemptsLeft: how many attempts are left; `nil` for one less than before.
    /// - Returns: `nil` if no attempt is left, or the prompt was not answered.
    func askAgain(_ id: Int, fault: String, attemptsLeft: Int?, patience: Duration) -> Prompt? {
        change { state in
            guard var open = state.open[id], open.state == .checking, let before = open.attemptsLeft else { return nil }
            let left = attemptsLeft ?? before - 1
            guard left > 0 else { return nil }
            (open.attemptsLeft, open.fault, open.state) = (left, fault, .waiting)
            state.open[id] = open
            return ask(id, &state, patience)
        }
    }

    /// Removes a prompt whose answer the asker has checked.
    func close(_ id: Int) { state.withLock { _ = $0.open.removeValue(forKey: id) } }

    private func ask(_ id: Int, _ state: inout State, _ patience: Duration?) -> Prompt? {
        let deadline = patience.map { clock.now + $0 }
        state.open[id]?.deadline = deadline
        state.open[id]?.alarm = deadline.map { alarm(id, at: $0) }
        let asked = state.open[id].map { prompt(id, $0) }
        if let asked { events.enqueue(.asked(asked)) }
        return asked
    }

    private func alarm(_ id: Int, at deadline: Duration) -> Task<Void, Never> {
        Task { [clock, weak self] in
            guard (try? await clock.sleep(until: deadline)) != nil else { return }
            self?.expire(id, deadline)
        }
    }

    private func expire(_ id: Int, _ deadline: Duration) {
        // A prompt that was asked again has another deadline.
        let take = change { state in
            state.open[id]?.deadline == deadline ? end(id, as: .expired, &state) : nil
        }
        take?(.expired)
    }

    // MARK: Changes by the asker

    /// Sets how much longer it can be answered, for an asker that ends it in time itself.
    public func show(_ id: Int, timeLeft: Duration) {
        state.withLock { $0.open[id]?.deadline = clock.now + timeLeft }
    }

    /// Ends the prompt with the asker's own decision. Its ``Taker`` is not called.
    ///
    /// - Returns: whether this call ended it: `false` if it already has an outcome.
    @discardableResult
    public func end(_ id: Int, as outcome: PromptOutcome) -> Bool {
        change { end(id, as: outcome, &$0) } != nil
    }

    private func end(_ id: Int, as outcome: PromptOutcome, _ state: inout State) -> Taker? {
        guard var open = state.open[id], open.state == .waiting else { return nil }
        open.alarm?.cancel()
        (open.alarm, open.deadline) = (nil, nil)
        if case .answered = outcome, open.isChecked {
            open.state = .checking
            state.open[id] = open
        } else {
            state.open[id] = nil
        }
        // Inside the lock, so that events come in the order of the decisions.
        events.enqueue(PromptEvent(prompt(id, open), outcome))
        return open.take
    }

    // MARK: Answering

    /// All open prompts, the oldest first.
    public var prompts: [Prompt] {
        state.withLock { state in
            state.open.sorted { $0.key < $1.key }.map { prompt($0.key, $0.value) }
        }
    }

    /// - Throws: ``PromptError/unknown(id:)``
    public func prompt(_ id: Int) throws(PromptError) -> Prompt {
        guard let prompt = state.withLock({ state in state.open[id].map { prompt(id, $0) } }) else {
            throw .unknown(id: id)
        }
        return prompt
    }

    /// Answers a prompt; only the first answer counts.
    ///
    /// - Parameter uid: the answering user of this machine, as reported by the kernel.
    /// - Throws: ``PromptError``
    public func answer(_ id: Int, _ answer: PromptAnswer, by answerer: Answerer, uid: UInt32) throws(PromptError) {
        try take(id, .answered(answer, by: answerer), uid) { question throws(PromptError) in
            guard answer.form == question.kind.form else { throw .wrongForm(id: id, kind: question.kind) }
            switch answer {
            case .text(let text), .credentials(_, let text), .code(let text, _, _):
                guard text.count > 0 else { throw .emptyAnswer(id: id) }
                guard text.count <= PromptAnswer.textLimit else { throw .answerTooLong(limit: PromptAnswer.textLimit) }
            case .choice(let choice):
                guard question.choices.contains(choice) else { throw .noSuchChoice(id: id) }
            case .grant: break
            }
        }
    }

    /// Refuses to answer a prompt.
    ///
    /// - Throws: ``PromptError``
    public func refuse(_ id: Int, by answerer: Answerer, uid: UInt32) throws(PromptError) {
        try take(id, .refused(by: answerer), uid) { _ in }
    }

    private func take(
        _ id: Int, _ outcome: PromptOutcome, _ uid: UInt32, _ check: (PromptQuestion) throws(PromptError) -> Void
    ) throws(PromptError) {
        let result: Result<Taker, PromptError> = change { state in
            guard let open = state.open[id] else { return .failure(.unknown(id: id)) }
            if case .user(let only) = open.question.answerers, only != uid { return .failure(.forAnotherUser(id: id)) }
            do throws(PromptError) { try check(open.question) } catch { return .failure(error) }
            return end(id, as: outcome, &state).map(Result.success) ?? .failure(.alreadyAnswered(id: id))
        }
        try result.get()(outcome)
    }

    private func prompt(_ id: Int, _ open: Open) -> Prompt {
        Prompt(
            id: id, question: open.question, state: open.state, attemptsLeft: open.attemptsLeft, fault: open.fault,
            timeLeft: open.deadline.map { $0 - clock.now })
    }

    // MARK: Ending

    /// Withdraws all waiting prompts and ends the events.
    public func close() {
        let takers = change { state in
            state.open.keys.sorted().compactMap { end($0, as: .withdrawn, &state) }
        }
        for take in takers { take(.withdrawn) }
        events.finish()
    }
}
