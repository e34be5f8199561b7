import Groundwork

/// Where a person, or a program, is asked whether another device may log in with this one's session.
///
/// One question is asked at a time; others wait in line. Exactly one answer counts; no answer in time is a refusal.
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

        public init() {}
    }

    private struct Waiting {
        let request: ConsentRequest
        let continuation: CheckedContinuation<ConsentDecision, Never>
    }

    private let settings: Settings
    private let clock: any ProximityClock
    private let events: Broadcast<ProximityEvent>
    private let audit: @Sendable (AuditRecord) -> Void
    private var rate: RequestRate
    private var gestures: ButtonGestures
    private var line: [Waiting] = []
    private var askedUntil: Duration?
    private var unconcluded: Set<Int> = []
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

    /// Asks, and waits for the answer. After a grant the caller tells what came of it by ``conclude(_:_:)``.
    ///
    /// When the calling task is cancelled the question is withdrawn.
    public func ask(_ requester: Requester) async -> ConsentAnswer {
        lastID += 1
        let request = ConsentRequest(id: lastID, requester: requester, date: clock.date)
        if let decision = decisionAtOnce(about: requester) {
            settle(request, decision)
            return ConsentAnswer(request: request, decision: decision)
        }
        let decision = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                line.append(Waiting(request: request, continuation: continuation))
                if line.count == 1 { present() }
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

    /// - Parameter time: on the clock's scale.
    public func buttonPressed(at time: Duration) { obey(gestures.pressed(at: time)) }
    /// It was down when it began to be watched.
    public func buttonFoundDown(at time: Duration) { obey(gestures.foundDown(at: time)) }
    public func buttonReleased(at time: Duration) { obey(gestures.released(at: time)) }
    /// The button's line cannot be had, or was lost.
    public func buttonLost() { obey(gestures.lost()) }
    public func buttonFound() { obey(gestures.found()) }

    /// Why the button answers nothing just now.
    public var buttonFault: ButtonFault? { gestures.fault }

    private func obey(_ outcomes: [ButtonGestures.Outcome]) {
        for outcome in outcomes {
            switch outcome {
            case .grant: if let asked = line.first { settle(asked.request.id, .granted(by: .button)) }
            case .refuse: if let asked = line.first { settle(asked.request.id, .refused(by: .button)) }
            case .endSharing: endSharing(by: .button)
            case .fault(let fault): events.send(.buttonFault(fault))
            case .recovered: events.send(.buttonRecovered)
            }
        }
        setAlarm()
    }

    // MARK: The line

    private func decisionAtOnce(about requester: Requester) -> ConsentDecision? {
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
            askedUntil = nil
            setAlarm()
            return
        }
        askedUntil = clock.now + settings.patience
        events.send(.consentAsked(asked.request))
        obey(gestures.ask(at: clock.now))
    }

    @discardableResult
    private func settle(_ id: Int, _ decision: ConsentDecision) -> Bool {
        guard let index = line.firstIndex(where: { $0.request.id == id }) else { return false }
        let waiting = line.remove(at: index)
        if index == 0 { gestures.close() }
        settle(waiting.request, decision)
        waiting.continuation.resume(returning: decision)
        if index == 0 { present() }
        return true
    }

    private func settle(_ request: ConsentRequest, _ decision: ConsentDecision) {
        events.send(.consentAnswered(request, decision))
        if decision.isGranted {
            unconcluded.insert(request.id)
        } else {
            audit(AuditRecord(date: clock.date, request: request, decision: decision, outcome: .refused))
        }
    }

    private func setAlarm() {
        alarm?.cancel()
        alarm = nil
        guard let deadline = [askedUntil, gestures.deadline].compactMap(\.self).min() else { return }
        alarm = Task { [clock, weak self] in
            guard (try? await clock.sleep(until: deadline)) != nil, !Task.isCancelled else { return }
            await self?.expire()
        }
    }

    private func expire() {
        obey(gestures.expire(at: clock.now))
        if let asked = line.first, let askedUntil, clock.now >= askedUntil { settle(asked.request.id, .timedOut) }
    }
}
