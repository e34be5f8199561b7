import FoundationEssentials
import Groundwork
public import Prompts

/// A question that waits for consent.
public struct ConsentRequest: Sendable, Hashable, Identifiable {
    /// The number of its prompt; answers refer to the question by it.
    public let id: Int
    public let requester: Requester
    public let date: Date
    /// The name of the user whose session the device would get, if known.
    public let user: String?

    init(id: Int, requester: Requester, date: Date, user: String? = nil) {
        self.id = id
        self.requester = requester
        self.date = date
        self.user = user
    }

    public var details: [String: JSON] {
        requester.details.merging(
            ["id": .integer(Int64(id)), "user": user.map { .string(DisplayText.clean($0)) } ?? .null],
            uniquingKeysWith: { own, _ in own })
    }
}

/// The decision on a question. Anything but ``granted(by:)`` is a refusal.
public enum ConsentDecision: Sendable, Hashable, CustomStringConvertible {
    case granted(by: Answerer)
    case refused(by: Answerer)
    /// There was no answer in time.
    case timedOut
    /// This requester, or all requesters together, asked too often.
    case tooMany
    /// Too many questions wait already.
    case busy
    /// A request for the same session was answered before, or is already waiting.
    case replayed
    /// The button was pressed while it was unclear which of several requesters was meant.
    case ambiguous
    /// The requester or the asking program has left.
    case withdrawn
    /// Sharing was ended while the question waited.
    case sharingEnded(by: Answerer)

    public var isGranted: Bool { if case .granted = self { true } else { false } }

    /// Whether a person, or the end of the time to answer, decided; the other cases are not about this requester.
    var isJudgement: Bool {
        switch self {
        case .granted, .refused, .timedOut, .sharingEnded: true
        case .tooMany, .busy, .replayed, .ambiguous, .withdrawn: false
        }
    }

    /// Whether the request was turned away before a person was asked. The audit record omits these because people did
    /// not decide them, and strangers could fill it with them.
    public var isTurnedAway: Bool {
        switch self {
        case .tooMany, .busy, .replayed: true
        case .granted, .refused, .timedOut, .sharingEnded, .ambiguous, .withdrawn: false
        }
    }

    public var source: Answerer? {
        switch self {
        case .granted(let source), .refused(let source), .sharingEnded(let source): source
        case .timedOut, .tooMany, .busy, .replayed, .ambiguous, .withdrawn: nil
        }
    }

    /// Stable and for programs.
    public var name: String {
        switch self {
        case .granted: "granted"
        case .refused: "refused"
        case .timedOut: "timed-out"
        case .tooMany: "too-many"
        case .busy: "busy"
        case .replayed: "replayed"
        case .ambiguous: "ambiguous"
        case .withdrawn: "withdrawn"
        case .sharingEnded: "sharing-ended"
        }
    }

    public var description: String {
        switch self {
        case .granted(let source): "granted (\(source))"
        case .refused(let source): "refused (\(source))"
        case .timedOut: "refused, because the question was not answered in time"
        case .tooMany: "refused, because too many requests came in a short time"
        case .busy: "refused, because too many other requests wait"
        case .replayed: "refused, because it was answered before or is already waiting"
        case .ambiguous: "refused, because the button cannot choose between several devices"
        case .withdrawn: "withdrawn, because the requester left"
        case .sharingEnded(let source): "refused, because sharing was ended (\(source))"
        }
    }

    /// The refusal as an error; `nil` for a grant.
    public var error: ProximityError? {
        switch self {
        case .granted: nil
        case .tooMany: .requestRefused(.tooMany)
        case .busy: .requestRefused(.busy)
        case .replayed: .requestRefused(.replayed)
        case .ambiguous: .requestRefused(.ambiguous)
        case .refused(.policy): .nobodyToAsk
        case .refused(let source), .sharingEnded(let source): .userDeclined(by: source.description)
        case .timedOut: .userDeclined(by: "the question was not answered in time")
        case .withdrawn: .userDeclined(by: "the requester left")
        }
    }
}

/// The answer to one question; the caller reports the outcome with it.
public struct ConsentAnswer: Sendable, Hashable {
    public let request: ConsentRequest
    public let decision: ConsentDecision
    /// When it was decided.
    public let date: Date
}

/// One line of the audit record: who was authorized, when, how and by whose consent.
public struct AuditRecord: Sendable, Equatable {
    public enum Outcome: Sendable, Equatable {
        /// Consent was given, and the gateway is about to be told. Another record about the question follows, unless
        /// the agent is killed before.
        case unknown
        case authorized
        /// Consent was given, but the gateway did not authorize the device.
        case failed(code: String)
        case refused
    }

    public let date: Date
    public let request: ConsentRequest
    public let decision: ConsentDecision
    public let outcome: Outcome

    public var json: JSON {
        var members = request.details
        members["time"] = .string(date.formatted(.iso8601))
        members["decision"] = .string(decision.name)
        members["by"] = decision.source.map { .string($0.description) } ?? .null
        switch outcome {
        case .unknown: members["outcome"] = "unknown"
        case .authorized: members["outcome"] = "authorized"
        case .failed(let code):
            members["outcome"] = "failed"
            members["code"] = .string(code)
        case .refused: members["outcome"] = "refused"
        }
        return .object(members)
    }
}

extension AuditRecord {
    init(of answer: ConsentAnswer, _ outcome: Outcome) {
        self.init(date: answer.date, request: answer.request, decision: answer.decision, outcome: outcome)
    }
}
