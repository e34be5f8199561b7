/// Why the body of a successful answer violates its protocol.
public struct AnswerFault: Error, Equatable {
    /// Completes a sentence about the answer. Quotes no value of the answer.
    public let reason: String

    public init(_ reason: String) { self.reason = reason }
}
