/// The complete description of an error, for people and programs.
public struct Explanation: Sendable, Equatable {
    /// Stable and for programs: `module.what-happened`, lower case.
    public let code: String
    /// The kind of error; it determines the HTTP status and the exit status.
    public let kind: ExplanationKind
    /// One line with the operation and the path or host on which it failed.
    public let message: String
    /// What to do about it, if anything.
    public let remedy: String?
    /// The general meaning of the code if the message of an example is not sufficient; only for `latchkey explain`.
    public let meaning: String?
    /// The code of the error that caused this one.
    public let cause: String?
    /// The gateway's answer, and the number that the protocol's public clients use.
    public let gateway: GatewayNumbers?
    /// What the public clients of other systems call it; the first is what their oldest versions do.
    public let numbers: [ClientNumber]
    /// What the public clients of M-Pin call it, such as `INCORRECT_PIN` (MPIN 8).
    public let status: String?
    /// For an error about the address that a browser was led to, while the login still waits for its own.
    public let browserAnswer: BrowserAnswerFault?

    public init(
        _ code: String, _ kind: ExplanationKind, _ message: String, remedy: String? = nil, meaning: String? = nil,
        cause: String? = nil, gateway: GatewayNumbers? = nil, numbers: [ClientNumber] = [], status: String? = nil,
        browserAnswer: BrowserAnswerFault? = nil
    ) {
        self.code = code
        self.kind = kind
        self.message = message
        self.remedy = remedy
        self.meaning = meaning
        self.cause = cause
        self.gateway = gateway
        self.numbers = numbers
        self.status = status
        self.browserAnswer = browserAnswer
    }

    /// The explanation of any error.
    public init(of error: any Error) {
        self = ((error as? any Explained) ?? UnexpectedError(error)).explanation
    }
}

extension Explanation {
    /// The same with the numbers of other systems' clients.
    public func numbered(_ numbers: [ClientNumber]) -> Explanation {
        Explanation(
            code, kind, message, remedy: remedy, meaning: meaning, cause: cause, gateway: gateway, numbers: numbers,
            status: status, browserAnswer: browserAnswer)
    }

    /// The members of a JSON object: for an error answer of the local API, an event, or a part of the status.
    public var members: [String: JSON] {
        var members: [String: JSON] = [
            "code": .string(code), "kind": .string(kind.rawValue), "message": .string(message),
        ]
        members["remedy"] = remedy.map(JSON.string)
        members["cause"] = cause.map(JSON.string)
        members["gateway"] = gateway?.json
        if !numbers.isEmpty { members["numbers"] = .array(numbers.map(\.json)) }
        members["status"] = status.map(JSON.string)
        members["browserAnswer"] = (browserAnswer?.rawValue).map(JSON.string)
        return members
    }

    /// The body of an error answer: `{"error": {"code", "kind", "message", …}}`.
    public var answer: JSON { ["error": .object(members)] }

    /// Parses ``answer``.
    ///
    /// - Returns: `nil` without a code or a message. An unknown kind counts as ``ExplanationKind/internal``.
    public init?(answer: JSON) {
        let error = answer["error"]
        guard let code = error?["code"]?.string, let message = error?["message"]?.string else { return nil }
        self.init(
            code, error?["kind"]?.string.flatMap(ExplanationKind.init) ?? .internal, message,
            remedy: error?["remedy"]?.string, cause: error?["cause"]?.string,
            gateway: error?["gateway"].flatMap(GatewayNumbers.init),
            numbers: (error?["numbers"]?.array ?? []).compactMap(ClientNumber.init), status: error?["status"]?.string,
            browserAnswer: error?["browserAnswer"]?.string.flatMap(BrowserAnswerFault.init))
    }
}
