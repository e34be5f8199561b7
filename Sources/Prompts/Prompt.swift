public import Groundwork

/// A question to a person, as shown to the users who may answer it.
public struct Prompt: Sendable, Equatable, Identifiable {
    public enum State: String, AnswerValue, CaseIterable {
        /// It can be answered.
        case waiting
        /// It was answered, and the asker checks the answer.
        case checking
    }

    /// Counts from 1; answers refer to the prompt by it. It stays the same when the question is asked again after a
    /// wrong answer.
    public let id: Int
    public let question: PromptQuestion
    public let state: State
    /// The number of remaining attempts, including the next one; `nil` if answers are not checked.
    public let attemptsLeft: Int?
    /// The fault of the last answer, for people.
    public let fault: String?
    /// How much longer it can be answered, at the time when this value was created; `nil` if the time has not started
    /// yet.
    public let timeLeft: Duration?

    /// The prompt's members in the local API. They never contain an answer.
    public var details: [String: JSON] { Self.answer.members(of: self) }
}
