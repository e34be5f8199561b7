/// An error that a person can act on.
///
/// Every room has one error type that conforms. All that is said of a case stands together in the one switch of
/// ``explanation``: the command, the local API, events and the log say it so, and nothing secret may be in it.
public protocol Explained: Error, CustomStringConvertible {
    var explanation: Explanation { get }

    /// At least one value of each case, for `latchkey explain`; in capitals, such as `PATH`, what a real one knows.
    static var examples: [Self] { get }
}

extension Explained {
    public var code: String { explanation.code }
    public var kind: ExplanationKind { explanation.kind }
    public var message: String { explanation.message }
    public var remedy: String? { explanation.remedy }
    public var description: String { message }
}

/// What is said in place of an error that does not explain itself: that one was not meant for a person, and could hold
/// anything.
public enum UnexpectedError: Explained, Equatable {
    case cancelled
    /// `type` is the error's type, which tells a developer where to look.
    case unexpected(type: String)

    init(_ error: any Error) {
        self = error is CancellationError ? .cancelled : .unexpected(type: "\(type(of: error))")
    }

    public var explanation: Explanation {
        switch self {
        case .cancelled: Explanation("internal.cancelled", .cancelled, "it was cancelled")
        case .unexpected(let type):
            Explanation(
                "internal.unexpected", .internal, "an unexpected error: \(type)",
                remedy: "report it, with what the log says: journalctl -u latchkey")
        }
    }

    public static let examples: [Self] = [.cancelled, .unexpected(type: "TYPE")]
}
