public import Groundwork

/// Why a question could not be asked or answered.
public enum PromptError: Explained, Equatable {
    case unknown(id: Int)
    /// Another answer came first and is still being checked.
    case alreadyAnswered(id: Int)
    /// Only another user may answer.
    case forAnotherUser(id: Int)
    /// The answer has the wrong form, such as text instead of a choice.
    case wrongForm(id: Int, kind: PromptQuestion.Kind)
    case noSuchChoice(id: Int)
    case emptyAnswer(id: Int)
    case answerTooLong(limit: Int)
    /// The maximum number of questions of this kind is waiting.
    case tooMany(kind: PromptQuestion.Kind, limit: Int)
    /// A person or program refused to answer.
    case declined(kind: PromptQuestion.Kind, by: String)
    /// There was no answer in time.
    case timedOut(kind: PromptQuestion.Kind)

    public var explanation: Explanation {
        switch self {
        case .unknown(let id):
            Explanation("prompt.unknown", .notFound, "no prompt \(id) is waiting", remedy: Self.list)
        case .alreadyAnswered(let id):
            Explanation(
                "prompt.already-answered", .conflict, "prompt \(id) was answered, and the answer is being checked",
                remedy: "wait; it is asked again if the answer is wrong")
        case .forAnotherUser(let id):
            Explanation("prompt.for-another-user", .permission, "another user must answer prompt \(id)")
        case .wrongForm(let id, let kind):
            Explanation(
                "prompt.wrong-form", .invalidInput, "prompt \(id) requires a different kind of answer",
                remedy: kind.form.remedy)
        case .noSuchChoice(let id):
            Explanation(
                "prompt.no-such-choice", .invalidInput, "prompt \(id) does not offer this choice", remedy: Self.list)
        case .emptyAnswer(let id):
            Explanation("prompt.empty-answer", .invalidInput, "the answer to prompt \(id) is empty")
        case .answerTooLong(let limit):
            Explanation("prompt.answer-too-long", .tooLarge, "the answer has more than \(limit) bytes")
        case .tooMany(let kind, let limit):
            Explanation(
                "prompt.too-many", .tooMany, "\(limit) prompts of kind \(kind.rawValue) are waiting already",
                remedy: "answer or refuse them first: latchkey prompts")
        case .declined(let kind, let answerer):
            Explanation(
                "prompt.declined", .denied, "the prompt for \(kind.noun) was refused (\(answerer))",
                gateway: kind == .logIn ? .local(130_005) : nil)
        case .timedOut(let kind):
            Explanation(
                "prompt.timed-out", .denied, "the prompt for \(kind.noun) was not answered in time",
                remedy: "try again, and answer at the terminal or with latchkey prompts")
        }
    }

    private static let list = "see what is being asked: latchkey prompts"

    public static let examples: [PromptError] = [
        .unknown(id: 1), .alreadyAnswered(id: 1), .forAnotherUser(id: 1), .wrongForm(id: 1, kind: .password),
        .wrongForm(id: 1, kind: .consent), .wrongForm(id: 1, kind: .choice), .wrongForm(id: 1, kind: .logIn),
        .noSuchChoice(id: 1), .emptyAnswer(id: 1),
        .answerTooLong(limit: PromptAnswer.textLimit), .tooMany(kind: .password, limit: PromptDesk.limitPerKind),
        .declined(kind: .password, by: "user NAME"), .timedOut(kind: .password),
    ]
}

extension PromptQuestion.Kind.Form {
    fileprivate var remedy: String {
        switch self {
        case .text: "give text"
        case .choice: "give one of the choices: latchkey prompts answer ID --choice CHOICE"
        case .consent: "grant or refuse: latchkey prompts answer ID --grant"
        case .logIn: "give a user name and a password, or a code: latchkey prompts answer ID --user NAME"
        }
    }
}

extension PromptQuestion.Kind {
    fileprivate var noun: String {
        switch self {
        case .password: "a password"
        case .pin: "a PIN"
        case .oneTimePassword: "a one-time password"
        case .knowledgeQuestion: "an answer"
        case .consent: "consent"
        case .lockPasscode, .vaultPasscode: "the passcode"
        case .newVaultPasscode: "a new passcode"
        case .choice: "a choice"
        case .logIn: "a login"
        }
    }
}
