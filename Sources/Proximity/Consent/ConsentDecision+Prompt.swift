import Prompts

// A question for consent as a prompt.

extension ConsentRequest {
    /// The prompt's question, for the places where prompts are answered.
    var question: PromptQuestion {
        PromptQuestion(
            .consent, "Let in \(requester)?", answerers: .operatorsAndButton,
            about: .device(
                name: requester.name, address: requester.address, way: requester.way.rawValue, user: user))
    }
}

extension ConsentDecision {
    init(_ outcome: PromptOutcome) {
        self =
            switch outcome {
            case .answered(_, let answerer): .granted(by: answerer)
            case .refused(let answerer): .refused(by: answerer)
            case .expired: .timedOut
            case .withdrawn: .withdrawn
            }
    }

    /// The prompt's outcome for this decision.
    var outcome: PromptOutcome {
        switch self {
        case .granted(let source): .answered(.grant, by: source)
        case .refused(let source): .refused(by: source)
        // A press that authorizes no device.
        case .ambiguous: .refused(by: .button)
        case .timedOut: .expired
        case .withdrawn, .sharingEnded, .tooMany, .busy, .replayed: .withdrawn
        }
    }
}
