public import Groundwork

/// Events of prompts. They never contain an answer.
public enum PromptEvent: ReportedEvent, Equatable {
    /// A question is asked, or asked again under the same number after a wrong answer.
    case asked(Prompt)
    case answered(Prompt, by: Answerer)
    case refused(Prompt, by: Answerer)
    case expired(Prompt)
    case withdrawn(Prompt)

    public var prompt: Prompt {
        switch self {
        case .asked(let prompt), .answered(let prompt, _), .refused(let prompt, _), .expired(let prompt),
            .withdrawn(let prompt):
            prompt
        }
    }

    init(_ prompt: Prompt, _ outcome: PromptOutcome) {
        self =
            switch outcome {
            case .answered(_, let answerer): .answered(prompt, by: answerer)
            case .refused(let answerer): .refused(prompt, by: answerer)
            case .expired: .expired(prompt)
            case .withdrawn: .withdrawn(prompt)
            }
    }

    public static let meanings = [
        "prompt.answered": "a prompt was answered; the event says by whom, but never contains the answer",
        "prompt.asked": "a prompt waits for an answer, the first or one after a wrong answer: latchkey prompts",
        "prompt.expired": "a prompt was not answered in time",
        "prompt.refused": "a person or a program refused to answer a prompt",
        "prompt.withdrawn": "a prompt no longer needs an answer, because the program that asked has ended",
    ]

    public static var details: [String: Schema] {
        Prompt.answer.schemas.merging(["by": .string("who answered or refused")]) { own, _ in own }
    }

    /// Always routine, because the asker reports the outcome.
    public var report: EventReport {
        let (text, fields) = (prompt.question.text, prompt.details)
        return switch self {
        case .asked: EventReport("prompt.asked", .routine, "asked: \(text)", fields)
        case .answered(_, let answerer):
            EventReport("prompt.answered", .routine, "answered (\(answerer)): \(text)", fields.by(answerer))
        case .refused(_, let answerer):
            EventReport("prompt.refused", .routine, "refused (\(answerer)): \(text)", fields.by(answerer))
        case .expired: EventReport("prompt.expired", .routine, "not answered in time: \(text)", fields)
        case .withdrawn: EventReport("prompt.withdrawn", .routine, "no longer asked: \(text)", fields)
        }
    }
}

extension [String: JSON] {
    fileprivate func by(_ answerer: Answerer) -> Self {
        merging(["by": .string(answerer.description)]) { _, new in new }
    }
}
