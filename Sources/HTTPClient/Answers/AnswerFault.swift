/// Why an answer that came with a success is not what its protocol says.
public struct AnswerFault: Error, Equatable {
    /// Continues a sentence about the answer. No value of the answer is in it.
    public let reason: String

    public init(_ reason: String) { self.reason = reason }
}
