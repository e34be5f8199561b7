import Groundwork
import Prompts

/// Asks a person or a program whether another device may log in with this one's session.
///
/// One question is asked at a time; others wait in a queue. Exactly one answer counts; no answer in time is a refusal.
/// Each question is a prompt with the same number on the ``PromptDesk``, which decides which answer was the first.
///
/// A button press does not say which device it means. So it grants only if a question has been the only one for a
/// while: a person who sees one device asking, and presses, must not authorize another one that came first or took its
/// place. A caller that waits for a press to prove that a person is there (``awaitPress(patience:onWait:)``) counts as
/// a question, too.
public actor ConsentDesk {
    struct Waiting {
        let request: ConsentRequest
        let session: String?
        let continuation: CheckedContinuation<ConsentDecision, Never>
    }

    /// Sent when the next decision depends on the button's edges up to now. The code that watches the button must
    /// report all of its edges, and then call ``buttonWatched(until:)``: an edge counts at the time when it happened,
    /// even if it is handled late.
    public nonisolated let lookRequests = Broadcast<Void>()

    private let settings: Settings
    private let prompts: PromptDesk
    let clock: any ProximityClock
    let events: Broadcast<ProximityEvent>
    private let audit: @Sendable (AuditRecord) async throws -> Void
    private var rate: RequestRate
    var gestures: ButtonGestures
    private(set) var line: [Waiting] = []
    /// The caller that waits for a press to prove that a person is at the board.
    var presence: Presence?
    var lastPresence = 0
    private var askedUntil: Duration?
    var meaning: PressMeaning
    private var answered: AnsweredSessions
    /// Whether a request of `lookRequests` has not been answered yet.
    var isLooking = false
    private var alarm: Task<Void, Never>?

    /// - Parameters:
    ///   - prompts: the desk of all prompts, which gets these questions too.
    ///   - audit: keeps a record, returns when it is on disk, and reports it if that fails.
    public init(
        settings: Settings = Settings(), prompts: PromptDesk, clock: any ProximityClock = SystemClock(),
        events: Broadcast<ProximityEvent>, audit: @escaping @Sendable (AuditRecord) async throws -> Void
    ) {
        self.settings = settings
        self.prompts = prompts
        self.clock = clock
        self.events = events
        self.audit = audit
        answered = AnsweredSessions(memory: settings.memory)
        rate = RequestRate(perMinute: settings.requestsPerMinute)
        gestures = ButtonGestures(timing: settings.button)
        meaning = PressMeaning(solitude: settings.solitude)
    }

    /// The waiting questions; the first one is being asked.
    public var pending: [ConsentRequest] { line.map(\.request) }

    /// How many could be meant by a press.
    var questions: Int { line.count + (presence == nil ? 0 : 1) }

    /// The light that the board's LED has to show; `nil` while there is no question.
    public var light: ConsentLight? { line.isEmpty ? nil : meaning.isClear ? .waiting : .ambiguous }

    /// Asks, and waits for the answer. After a grant, the caller calls ``begin(_:)`` before it lets anyone in, and
    /// reports the outcome with ``conclude(_:_:)``.
    ///
    /// The question is withdrawn if the calling task is canceled. A refusal is on disk when this returns.
    ///
    /// - Parameters:
    ///   - session: the identifier of the authorization session, the same for every spelling of its URL. A person is
    ///     asked about it only once, because repeated questions could wear them down.
    ///   - user: the user whose session the device would get.
    public func ask(_ requester: Requester, about session: String? = nil, inNameOf user: String? = nil) async
        -> ConsentAnswer
    {
        let request = ConsentRequest(id: prompts.reserve(), requester: requester, date: clock.date, user: user)
        let decision = await decide(request, about: session)
        let answer = ConsentAnswer(request: request, decision: decision, date: clock.date)
        // What is missing in the record of refusals does not keep a refusal from its requester.
        if !decision.isGranted, !decision.isTurnedAway { try? await audit(AuditRecord(of: answer, .refused)) }
        return answer
    }

    private func decide(_ request: ConsentRequest, about session: String?) async -> ConsentDecision {
        if let decision = decisionAtOnce(about: request.requester, session) ?? (open(request) ? nil : .busy) {
            if decision == .tooMany || decision == .busy { noteTurnedAway() }
            settle(request, session, decision)
            return decision
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                line.append(Waiting(request: request, session: session, continuation: continuation))
                if line.count == 1 { present() } else { becomeAmbiguous() }
            }
        } onCancel: {
            Task { await self.settle(request.id, .withdrawn) }
        }
    }

    /// Answers a question.
    ///
    /// - Throws: ``ProximityError/noSuchRequest(id:)`` if there is no such waiting question
    public func answer(_ id: Int, grant: Bool, by source: Answerer) throws(ProximityError) {
        guard settle(id, grant ? .granted(by: source) : .refused(by: source)) else { throw .noSuchRequest(id: id) }
    }

    /// Notes that a requester was turned away without a question: a person who presses the button now may mean that
    /// one.
    public func noteTurnedAway() {
        if questions > 0 { becomeAmbiguous() }
    }

    /// Refuses all waiting questions and requests the end of sharing.
    public func endSharing(by source: Answerer) {
        // The newest first: otherwise the next would be asked, only to be refused.
        for request in pending.reversed() { settle(request.id, .sharingEnded(by: source)) }
        events.send(.sharingEndRequested(by: source))
    }

    /// Records that a grant is about to be carried out. No device may be let in before this returns.
    ///
    /// - Throws: ``ProximityError/consentNotRecorded(reason:)``
    public nonisolated func begin(_ answer: ConsentAnswer) async throws(ProximityError) {
        do { try await audit(AuditRecord(of: answer, .unknown)) } catch {
            throw .consentNotRecorded(reason: error.reason)
        }
    }

    /// Records the outcome of a grant that was begun.
    public nonisolated func conclude(_ answer: ConsentAnswer, _ outcome: AuditRecord.Outcome) async {
        // It happened; that it could not be recorded is reported by `audit`.
        try? await audit(AuditRecord(of: answer, outcome))
    }

    // MARK: Queue

    /// Adds the question to the desk of all prompts.
    ///
    /// - Returns: `false` if that is full.
    private func open(_ request: ConsentRequest) -> Bool {
        do {
            try prompts.open(request.question, as: request.id, patience: nil) { [weak self] outcome in
                // It was answered through the desk, like any other prompt.
                Task { [weak self] in await self?.remove(request.id, ConsentDecision(outcome)) }
            }
            return true
        } catch {
            return false
        }
    }

    private func decisionAtOnce(about requester: Requester, _ session: String?) -> ConsentDecision? {
        if let session,
            answered.contains(session, at: clock.now) || line.contains(where: { $0.session == session })
        {
            return .replayed
        }
        guard rate.admits(requester.key, at: clock.now) else { return .tooMany }
        switch settings.policy {
        case .grantAll: return .granted(by: .policy)
        case .refuseAll: return .refused(by: .policy)
        case .ask: return line.count < settings.waitingLimit ? nil : .busy
        }
    }

    /// Asks the first question of the queue.
    private func present() {
        askedUntil = nil
        if let asked = line.first {
            askedUntil = clock.now + settings.patience
            prompts.show(asked.request.id, timeLeft: settings.patience)
            events.send(.consentAsked(asked.request))
        }
        beginPress()
    }

    /// Lets a press from now on answer what waits, if it is the only one.
    func beginPress() {
        let now = clock.now
        let isAmbiguous = meaning.begin(at: now, waiting: questions)
        guard questions > 0 else { return setAlarm() }
        if isAmbiguous { becomeAmbiguous() }
        carryOut(gestures.ask(at: now))
    }

    /// Something that waited for a press has left.
    func stopAsking(isFirst: Bool) {
        meaning.questionLeft(at: clock.now)
        if isFirst { gestures.close() }
    }

    /// - Returns: whether this call decided the question: also `false` if another answer came first, whose decision
    ///   follows.
    @discardableResult
    func settle(_ id: Int, _ decision: ConsentDecision) -> Bool {
        guard line.contains(where: { $0.request.id == id }), prompts.end(id, as: decision.outcome) else { return false }
        remove(id, decision)
        return true
    }

    private func remove(_ id: Int, _ decision: ConsentDecision) {
        guard let index = line.firstIndex(where: { $0.request.id == id }) else { return }
        let waiting = line.remove(at: index)
        stopAsking(isFirst: index == 0)
        settle(waiting.request, waiting.session, decision)
        waiting.continuation.resume(returning: decision)
        if index == 0 { present() } else { setAlarm() }
    }

    private func settle(_ request: ConsentRequest, _ session: String?, _ decision: ConsentDecision) {
        events.send(.consentAnswered(request, decision))
        if let session, isFinal(decision, of: request) { answered.insert(session, at: clock.now) }
    }

    /// Whether no one may be asked about the session again. A person who scans a code is at this device, and may scan
    /// it again after a question without an answer.
    private func isFinal(_ decision: ConsentDecision, of request: ConsentRequest) -> Bool {
        decision.isJudgement && (decision != .timedOut || request.requester.way != .qr)
    }

    func setAlarm() {
        alarm?.cancel()
        alarm = nil
        // Until the requested edges are reported, no decision may depend on the button.
        let solitude = questions == 1 && !isLooking ? meaning.ambiguousUntil : nil
        let gesture = isLooking ? nil : gestures.deadline
        guard let deadline = [askedUntil, presence?.deadline, gesture, solitude].compactMap(\.self).min() else {
            return
        }
        alarm = Task { [clock, weak self] in
            guard (try? await clock.sleep(until: deadline)) != nil, !Task.isCancelled else { return }
            await self?.expire()
        }
    }

    private func expire() {
        let now = clock.now
        if !isLooking, let deadline = gestures.deadline, now >= deadline {
            isLooking = true
            lookRequests.send(())
        }
        if !isLooking { becomeClear(at: now) }
        if let asked = line.first, let askedUntil, now >= askedUntil { settle(asked.request.id, .timedOut) }
        if let presence, now >= presence.deadline { endPresence(as: .notPressed) }
        setAlarm()
    }
}
