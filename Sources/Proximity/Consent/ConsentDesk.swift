import Groundwork

/// Where a person, or a program, is asked whether another device may log in with this one's session.
///
/// One question is asked at a time; others wait in line. Exactly one answer counts; no answer in time is a refusal.
///
/// A button cannot say whom it means. So it grants only while one question waits alone, and has for a while: who sees one device
/// asking, and presses, must not let in another one that came first, or took its place.
public actor ConsentDesk {
    public enum Policy: String, Sendable {
        /// Somebody has to answer.
        case ask
        case grantAll = "grant-all"
        /// Nobody is there to answer.
        case refuseAll = "refuse-all"
    }

    public struct Settings: Sendable {
        public var policy = Policy.ask
        /// The time a question is asked for.
        public var patience = Duration.seconds(30)
        /// The most questions that wait, the one that is asked among them.
        public var waitingLimit = 4
        /// For one requester.
        public var requestsPerMinute = 6
        public var button = ButtonGestures.Timing()
        /// How long a question has to be the only one before the button can grant it, where another one was near it.
        public var solitude = Duration.seconds(5)
        /// How long a session is remembered that was answered; longer than any authorization session lives.
        public var memory = Duration.seconds(900)
        /// The most sessions remembered: more than can be asked for in that time.
        static let memoryCount = 1024

        public init() {}
    }

    private struct Waiting {
        let request: ConsentRequest
        let session: String?
        let continuation: CheckedContinuation<ConsentDecision, Never>
    }

    /// Sent when what the button means depends on what it has done up to now. Whoever watches it tells of all of its
    /// edges, and then calls ``buttonWatched(until:)``: an edge that is handled late happened when it happened.
    public nonisolated let lookRequests = Broadcast<Void>()

    private let settings: Settings
    private let clock: any ProximityClock
    private let events: Broadcast<ProximityEvent>
    private let audit: @Sendable (AuditRecord) -> Void
    private var rate: RequestRate
    private var gestures: ButtonGestures
    private var line: [Waiting] = []
    private var askedUntil: Duration?
    /// Until when a press lets nobody in, at least; `nil` while it is clear whom it means.
    private var ambiguousUntil: Duration?
    /// When a question last stopped waiting.
    private var lastGone: Duration?
    private var answered: [(session: String, at: Duration)] = []
    private var unconcluded: Set<Int> = []
    /// Whether an answer to `lookRequests` is still to come.
    private var isLooking = false
    private var lastID = 0
    private var alarm: Task<Void, Never>?

    /// - Parameter audit: takes each record once; must not block.
    public init(
        settings: Settings = Settings(), clock: any ProximityClock = SystemClock(), events: Broadcast<ProximityEvent>,
        audit: @escaping @Sendable (AuditRecord) -> Void
    ) {
        self.settings = settings
        self.clock = clock
        self.events = events
        self.audit = audit
        rate = RequestRate(perMinute: settings.requestsPerMinute)
        gestures = ButtonGestures(timing: settings.button)
    }

    /// The questions that wait, the one that is asked first.
    public var pending: [ConsentRequest] { line.map(\.request) }

    /// What the board's LED has to show; `nil` while nobody is asked.
    public var light: ConsentLight? { line.isEmpty ? nil : ambiguousUntil == nil ? .waiting : .ambiguous }

    /// Asks, and waits for the answer. After a grant the caller tells what came of it by ``conclude(_:_:)``.
    ///
    /// When the calling task is cancelled the question is withdrawn.
    ///
    /// - Parameters:
    ///   - session: what names the authorization session, the same for every spelling of its URL. A person is asked about it
    ///     once; asking again would wear them down.
    ///   - user: in whose name the device would be let in.
    public func ask(_ requester: Requester, about session: String? = nil, inNameOf user: String? = nil) async
        -> ConsentAnswer
    {
        lastID += 1
        let request = ConsentRequest(id: lastID, requester: requester, date: clock.date, user: user)
        if let decision = decisionAtOnce(about: requester, session) {
            if decision == .tooMany || decision == .busy { noteTurnedAway() }
            settle(request, session, decision)
            return ConsentAnswer(request: request, decision: decision)
        }
        let decision = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                line.append(Waiting(request: request, session: session, continuation: continuation))
                if line.count == 1 { present() } else { becomeAmbiguous() }
            }
        } onCancel: {
            Task { await self.settle(request.id, .withdrawn) }
        }
        return ConsentAnswer(request: request, decision: decision)
    }

    /// Answers a question.
    ///
    /// - Throws: ``ProximityError/noSuchRequest(id:)`` when it does not wait (any more)
    public func answer(_ id: Int, grant: Bool, by source: ConsentSource) throws(ProximityError) {
        guard settle(id, grant ? .granted(by: source) : .refused(by: source)) else { throw .noSuchRequest(id: id) }
    }

    /// Somebody was turned away without a question. Whoever presses the button now may mean them.
    public func noteTurnedAway() {
        if !line.isEmpty { becomeAmbiguous() }
    }

    /// Refuses all that waits and tells whoever shares the session to stop.
    public func endSharing(by source: ConsentSource) {
        for request in pending { settle(request.id, .sharingEnded(by: source)) }
        events.send(.sharingEndRequested(by: source))
    }

    /// What came of a grant, for the record; only the first time counts.
    public func conclude(_ answer: ConsentAnswer, _ outcome: AuditRecord.Outcome) {
        guard unconcluded.remove(answer.request.id) != nil else { return }
        audit(AuditRecord(date: clock.date, request: answer.request, decision: answer.decision, outcome: outcome))
    }

    // MARK: The button

    /// - Parameter time: of its first edge, on the clock's scale; so with all that follow.
    public func buttonPressed(at time: Duration) {
        // In this order: a press of the time when it was not clear is none for the time when it is.
        obey(gestures.expire(at: time))
        becomeClear(at: time)
        obey(gestures.pressed(at: time))
    }
    /// It was down when it began to be watched.
    public func buttonFoundDown(at time: Duration) { obey(gestures.foundDown(at: time)) }
    public func buttonReleased(at time: Duration) { obey(gestures.released(at: time)) }
    /// Every edge before this time has been told.
    public func buttonWatched(until time: Duration) {
        isLooking = false
        // In this order, as above.
        obey(gestures.expire(at: time))
        becomeClear(at: clock.now)
        setAlarm()
    }
    /// The button's line cannot be had, or was lost.
    public func buttonLost() {
        isLooking = false
        obey(gestures.lost())
    }
    public func buttonFound() { obey(gestures.found()) }

    /// Whether a question has waited at any time from `time` on.
    public func hasAsked(since time: Duration) -> Bool { !line.isEmpty || lastGone.map { $0 >= time } ?? false }

    /// Why the button answers nothing just now.
    public var buttonFault: ButtonFault? { gestures.fault }

    private func obey(_ outcomes: [ButtonGestures.Outcome]) {
        for outcome in outcomes {
            switch outcome {
            case .grant: answerByButton(.granted(by: .button), ifAmbiguous: .ambiguous)
            case .refuse: answerByButton(.refused(by: .button), ifAmbiguous: .refused(by: .button))
            case .endSharing: endSharing(by: .button)
            case .fault(let fault): events.send(.buttonFault(fault))
            case .recovered: events.send(.buttonRecovered)
            }
        }
        setAlarm()
    }

    /// While nobody can tell whom it means, a press is for all: they are refused, and may ask one by one.
    private func answerByButton(_ decision: ConsentDecision, ifAmbiguous other: ConsentDecision) {
        guard ambiguousUntil != nil else {
            if let asked = line.first { settle(asked.request.id, decision) }
            return
        }
        // From the end, so that none of them is presented meanwhile.
        for request in pending.reversed() { settle(request.id, other) }
    }

    private func becomeAmbiguous() {
        let wasClear = ambiguousUntil == nil
        ambiguousUntil = clock.now + settings.solitude
        if wasClear { events.send(.consentAmbiguous(waiting: line.count)) }
        setAlarm()
    }

    /// The one question that is left can be answered by a press that begins from now on.
    private func becomeClear(at now: Duration) {
        guard let until = ambiguousUntil, now >= until, line.count < 2 else { return }
        ambiguousUntil = nil
        guard let asked = line.first else { return }
        events.send(.consentUnambiguous(asked.request))
        obey(gestures.ask(at: now))
    }

    // MARK: The line

    private func decisionAtOnce(about requester: Requester, _ session: String?) -> ConsentDecision? {
        let now = clock.now
        answered.removeAll { now - $0.at >= settings.memory }
        if let session,
            answered.contains(where: { $0.session == session }) || line.contains(where: { $0.session == session })
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

    /// Asks the first in line.
    private func present() {
        guard let asked = line.first else {
            (askedUntil, ambiguousUntil) = (nil, nil)
            setAlarm()
            return
        }
        let now = clock.now
        askedUntil = now + settings.patience
        events.send(.consentAsked(asked.request))
        // A press may be meant for the one that has just gone.
        let isAlone = line.count == 1 && lastGone.map { now - $0 >= settings.solitude } ?? true
        ambiguousUntil = nil
        if !isAlone { becomeAmbiguous() }
        obey(gestures.ask(at: now))
    }

    @discardableResult
    private func settle(_ id: Int, _ decision: ConsentDecision) -> Bool {
        guard let index = line.firstIndex(where: { $0.request.id == id }) else { return false }
        let waiting = line.remove(at: index)
        lastGone = clock.now
        if index == 0 { gestures.close() }
        settle(waiting.request, waiting.session, decision)
        waiting.continuation.resume(returning: decision)
        if index == 0 {
            present()
        } else if ambiguousUntil != nil {
            // The others have to be alone for a while from now.
            ambiguousUntil = clock.now + settings.solitude
            setAlarm()
        }
        return true
    }

    private func settle(_ request: ConsentRequest, _ session: String?, _ decision: ConsentDecision) {
        events.send(.consentAnswered(request, decision))
        if let session, isFinal(decision, of: request) { remember(session) }
        if decision.isGranted {
            unconcluded.insert(request.id)
        } else if !decision.isTurnedAway {
            audit(AuditRecord(date: clock.date, request: request, decision: decision, outcome: .refused))
        }
    }

    /// Whoever has a code scanned is at this device, and may do it again when nobody answered.
    private func isFinal(_ decision: ConsentDecision, of request: ConsentRequest) -> Bool {
        decision.isJudgement && (decision != .timedOut || request.requester.way != .qr)
    }

    private func remember(_ session: String) {
        if answered.count >= Settings.memoryCount { answered.removeFirst() }
        answered.append((session, clock.now))
    }

    private func setAlarm() {
        alarm?.cancel()
        alarm = nil
        // While the button is looked at, nothing is decided that depends on it.
        let solitude = line.count == 1 && !isLooking ? ambiguousUntil : nil
        let gesture = isLooking ? nil : gestures.deadline
        guard let deadline = [askedUntil, gesture, solitude].compactMap(\.self).min() else { return }
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
        setAlarm()
    }
}
