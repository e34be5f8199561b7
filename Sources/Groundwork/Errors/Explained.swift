/// An error that a person can act on.
///
/// Every module has one error type that conforms. The switch of ``explanation`` has all texts of a case: the command,
/// the local API, events and the log use it, so it must not contain secrets.
public protocol Explained: Error, CustomStringConvertible {
    var explanation: Explanation { get }

    /// At least one value of each case, for `latchkey explain`; placeholders in capitals, such as `PATH`, stand for
    /// real values.
    static var examples: [Self] { get }
}

extension Explained {
    public var code: String { explanation.code }
    public var kind: ExplanationKind { explanation.kind }
    public var message: String { explanation.message }
    public var remedy: String? { explanation.remedy }
    public var description: String { message }
}

/// Replaces an error that does not conform to ``Explained``: that one was not meant for people, and could contain
/// anything.
public enum UnexpectedError: Explained, Equatable {
    case cancelled
    /// `type` is the error's type, to help a developer find its origin.
    case unexpected(type: String)

    init(_ error: any Error) {
        self = error is CancellationError ? .cancelled : .unexpected(type: "\(type(of: error))")
    }

    public var explanation: Explanation {
        switch self {
        case .cancelled: Explanation("internal.cancelled", .cancelled, "it was canceled")
        case .unexpected(let type):
            Explanation(
                "internal.unexpected", .internal, "an unexpected error: \(type)",
                remedy: "report it, with what the log says: journalctl -u latchkey")
        }
    }

    public static let examples: [Self] = [.cancelled, .unexpected(type: "TYPE")]
}
