/// All that is said of one error, to people and to programs.
public struct Explanation: Sendable, Equatable {
    /// Stable and for programs: `room.what-happened`, lower case.
    public let code: String
    /// What sort of error it is; the HTTP status and the exit status follow from it.
    public let kind: ExplanationKind
    /// One line that names the operation and the path or host it failed on.
    public let message: String
    /// What to do about it, where there is something to do.
    public let remedy: String?
    /// What the code means in general, where the message of an example does not say it; for `latchkey explain` alone.
    public let meaning: String?
    /// The code of the error that led to this one.
    public let cause: String?
    /// What the gateway said, and the number that the protocol's public clients use.
    public let gateway: GatewayNumbers?

    public init(
        _ code: String, _ kind: ExplanationKind, _ message: String, remedy: String? = nil, meaning: String? = nil,
        cause: String? = nil, gateway: GatewayNumbers? = nil
    ) {
        self.code = code
        self.kind = kind
        self.message = message
        self.remedy = remedy
        self.meaning = meaning
        self.cause = cause
        self.gateway = gateway
    }

    /// What is said of any error.
    public init(of error: any Error) {
        self = ((error as? any Explained) ?? UnexpectedError(error)).explanation
    }
}

extension Explanation {
    /// As members of a JSON object: of an error that the local API answers, of an event, of a part of the status.
    public var members: [String: JSON] {
        var members: [String: JSON] = [
            "code": .string(code), "kind": .string(kind.rawValue), "message": .string(message),
        ]
        members["remedy"] = remedy.map(JSON.string)
        members["cause"] = cause.map(JSON.string)
        members["gateway"] = gateway?.json
        return members
    }

    /// The form of an error that is an answer of its own: `{"error": {"code", "kind", "message", …}}`.
    public var answer: JSON { ["error": .object(members)] }

    /// Reads ``answer`` back, as far as it is that.
    ///
    /// - Returns: `nil` without a code or a message. A kind that this program does not know counts as
    ///   ``ExplanationKind/internal``.
    public init?(answer: JSON) {
        let error = answer["error"]
        guard let code = error?["code"]?.string, let message = error?["message"]?.string else { return nil }
        self.init(
            code, error?["kind"]?.string.flatMap(ExplanationKind.init) ?? .internal, message,
            remedy: error?["remedy"]?.string, cause: error?["cause"]?.string,
            gateway: error?["gateway"].flatMap(GatewayNumbers.init))
    }
}
