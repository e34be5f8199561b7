public import Prompts

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

extension ConsentSource {
    public init(_ answerer: Answerer) {
        self =
            switch answerer {
            case .button: .button
            case .user(let name): .user(name)
            case .program(let name): .program(name)
            case .agent: .agent
            }
    }

    fileprivate var answerer: Answerer {
        switch self {
        case .button: .button
        case .user(let name): .user(name)
        case .program(let name): .program(name)
        case .policy, .agent: .agent
        }
    }
}

extension ConsentDecision {
    init(_ outcome: PromptOutcome) {
        self =
            switch outcome {
            case .answered(_, let answerer): .granted(by: ConsentSource(answerer))
            case .refused(let answerer): .refused(by: ConsentSource(answerer))
            case .expired: .timedOut
            case .withdrawn: .withdrawn
            }
    }

    /// The prompt's outcome for this decision.
    var outcome: PromptOutcome {
        switch self {
        case .granted(let source): .answered(.grant, by: source.answerer)
        case .refused(let source): .refused(by: source.answerer)
        // A press that authorizes no device.
        case .ambiguous: .refused(by: .button)
        case .timedOut: .expired
        case .withdrawn, .sharingEnded, .tooMany, .busy, .replayed: .withdrawn
        }
    }
}
