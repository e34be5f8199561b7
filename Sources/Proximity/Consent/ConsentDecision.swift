import FoundationEssentials
import Groundwork

/// Who answered.
public enum ConsentSource: Sendable, Hashable, CustomStringConvertible {
    case button
    /// A person at the local API or a terminal.
    case user(String)
    case program(String)
    /// The setting that grants, or refuses, every request.
    case policy
    /// Nobody: the user left, the gateway was switched, or the agent stops.
    case agent

    public var description: String {
        switch self {
        case .button: "button"
        case .user(let name): "user \(DisplayText.clean(name))"
        case .program(let name): "program \(DisplayText.clean(name))"
        case .policy: "policy"
        case .agent: "agent"
        }
    }
}

/// A question that waits for consent.
public struct ConsentRequest: Sendable, Hashable, Identifiable {
    /// Counts up from 1; by it an answer names the question.
    public let id: Int
    public let requester: Requester
    public let date: Date
    /// The name of the user in whose name the device would be let in, where it is known.
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

/// What came of a question. Anything but ``granted(by:)`` is a refusal.
public enum ConsentDecision: Sendable, Hashable, CustomStringConvertible {
    case granted(by: ConsentSource)
    case refused(by: ConsentSource)
    /// Nobody answered in time.
    case timedOut
    /// This requester, or all together, asked too often.
    case tooMany
    /// Too many questions wait already.
    case busy
    /// The session of this request was answered before, or waits already.
    case replayed
    /// The button was pressed while it could not be told which of several requesters was meant.
    case ambiguous
    /// The requester left, or the program that asked did.
    case withdrawn
    /// Sharing was ended while the question waited.
    case sharingEnded(by: ConsentSource)

    public var isGranted: Bool { if case .granted = self { true } else { false } }

    /// Somebody, or the time they had, decided; the others say nothing of this requester.
    var isJudgement: Bool {
        switch self {
        case .granted, .refused, .timedOut, .sharingEnded: true
        case .tooMany, .busy, .replayed, .ambiguous, .withdrawn: false
        }
    }

    /// Turned away before anybody was asked: nothing that belongs into a record of what people decided, and what a stranger
    /// could fill it with.
    public var isTurnedAway: Bool {
        switch self {
        case .tooMany, .busy, .replayed: true
        default: false
        }
    }

    public var source: ConsentSource? {
        switch self {
        case .granted(let source), .refused(let source), .sharingEnded(let source): source
        default: nil
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
        case .timedOut: "refused, as nobody answered in time"
        case .tooMany: "refused, as too many requests came in a short time"
        case .busy: "refused, as too many other requests wait"
        case .replayed: "refused, as it was answered before or waits already"
        case .ambiguous: "refused, as the button cannot tell which of several devices is meant"
        case .withdrawn: "withdrawn, as the requester left"
        case .sharingEnded(let source): "refused, as sharing was ended (\(source))"
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
        case .timedOut: .userDeclined(by: "nobody answered in time")
        case .withdrawn: .userDeclined(by: "the requester left")
        }
    }
}

/// The answer to one question, to be given back with what came of it.
public struct ConsentAnswer: Sendable, Hashable {
    public let request: ConsentRequest
    public let decision: ConsentDecision
}

/// One line of the record of who was authorized, when, how and by whose consent.
public struct AuditRecord: Sendable, Equatable {
    public enum Outcome: Sendable, Equatable {
        case authorized
        /// Consent was given, the gateway did not follow.
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
        case .authorized: members["outcome"] = "authorized"
        case .failed(let code):
            members["outcome"] = "failed"
            members["code"] = .string(code)
        case .refused: members["outcome"] = "refused"
        }
        return .object(members)
    }
}
