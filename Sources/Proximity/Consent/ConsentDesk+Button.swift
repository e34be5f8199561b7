import Groundwork
import Prompts

/// What the board's button says, and which question it answers.
extension ConsentDesk {
    /// - Parameter time: when the edge happened, on the clock's scale; the same for the functions below.
    public func buttonPressed(at time: Duration) {
        // In this order: a press from the ambiguous time must not count as a press after it.
        carryOut(gestures.expire(at: time))
        becomeClear(at: time)
        carryOut(gestures.pressed(at: time))
    }
    /// The button was down when watching began.
    public func buttonFoundDown(at time: Duration) { carryOut(gestures.foundDown(at: time)) }
    public func buttonReleased(at time: Duration) { carryOut(gestures.released(at: time)) }
    /// Every edge before this time has been reported.
    public func buttonWatched(until time: Duration) {
        isLooking = false
        // In this order, for the same reason as in `buttonPressed`.
        carryOut(gestures.expire(at: time))
        becomeClear(at: clock.now)
        setAlarm()
    }
    /// The button's line is unavailable or was lost.
    public func buttonLost() {
        isLooking = false
        carryOut(gestures.lost())
    }
    public func buttonFound() { carryOut(gestures.found()) }

    /// Whether there was a question, or a wait for a press, at any time since `time`.
    public func hasAsked(since time: Duration) -> Bool { questions > 0 || meaning.hasSeenQuestion(since: time) }

    /// Why the button cannot answer at present.
    public var buttonFault: ButtonFault? { gestures.fault }

    func carryOut(_ outcomes: [ButtonGestures.Outcome]) {
        for outcome in outcomes {
            switch outcome {
            case .grant: answerByButton(.granted(by: .button), ifAmbiguous: .ambiguous)
            case .refuse: answerByButton(.refused(by: .button), ifAmbiguous: .refused(by: .button))
            case .endSharing:
                endPresence(as: .refused)
                endSharing(by: .button)
            case .fault(let fault): events.send(.buttonFault(fault))
            case .recovered: events.send(.buttonRecovered)
            }
        }
        setAlarm()
    }

    /// While it is unclear which question a press means, it applies to all: they are refused, and their devices may ask
    /// again one by one.
    private func answerByButton(_ decision: ConsentDecision, ifAmbiguous other: ConsentDecision) {
        guard !meaning.isClear else {
            if let asked = line.first { settle(asked.request.id, decision) }
            endPresence(as: decision.isGranted ? .pressed : .refused)
            return
        }
        endPresence(as: decision.isGranted ? .ambiguous : .refused)
        // From the end, so that none of the others is presented meanwhile.
        for request in pending.reversed() { settle(request.id, other) }
    }

    func becomeAmbiguous() {
        if meaning.becomeAmbiguous(at: clock.now) { events.send(.consentAmbiguous(waiting: questions)) }
        setAlarm()
    }

    /// Lets a press that begins from now on answer the only remaining question.
    func becomeClear(at now: Duration) {
        guard meaning.becomeClear(at: now, waiting: questions), questions > 0 else { return }
        if let asked = line.first { events.send(.consentUnambiguous(asked.request)) }
        carryOut(gestures.ask(at: now))
    }
}
