import AgentCore
import Groundwork

/// How the command of an action ended, as its runner says in one JSON object.
package struct ActionOutcome: Sendable, Equatable {
    /// The longest answer, in bytes.
    package static let limit = ActionCall.answerLimit

    /// The exit status; `nil` if a signal ended the command, or it was not started.
    package var status: Int32?
    package var signal: Int32?
    /// Whether it was ended at its time limit.
    package var timedOut = false
    /// Why it was not started.
    package var refusal: String?
    /// The last bytes that it wrote.
    package var output: [UInt8] = []
    /// Bytes that it wrote before them.
    package var omitted = 0

    package var isSuccess: Bool { status == 0 && !timedOut && signal == nil && refusal == nil }

    /// In one line, for people.
    package var summary: String {
        if let refusal { return "it was not started: \(refusal)" }
        if timedOut { return "it was ended at its time limit" }
        if let signal { return "signal \(signal) ended it" }
        return "it ended with status \(status ?? -1)"
    }

    package init() {}

    package static func refused(_ reason: String) -> ActionOutcome {
        var outcome = ActionOutcome()
        outcome.refusal = reason
        return outcome
    }

    package var json: JSON {
        var members: [String: JSON] = [
            "timedOut": .bool(timedOut), "output": .string(Base64.encode(output)), "omitted": .integer(Int64(omitted)),
        ]
        members["status"] = status.map { .integer(Int64($0)) }
        members["signal"] = signal.map { .integer(Int64($0)) }
        members["refusal"] = refusal.map(JSON.string)
        return .object(members)
    }

    /// - Returns: `nil` if it is not an outcome.
    package init?(parsing bytes: [UInt8]) {
        guard let json = try? JSON(parsing: bytes, limit: Self.limit), let timedOut = json["timedOut"]?.bool,
            let output = json["output"]?.string.flatMap({ Base64.decode($0) }), let omitted = json["omitted"]?.integer,
            omitted >= 0
        else { return nil }
        self.timedOut = timedOut
        self.output = output
        self.omitted = Int(omitted)
        status = json["status"]?.integer.map(Int32.init(clamping:))
        signal = json["signal"]?.integer.map(Int32.init(clamping:))
        refusal = json["refusal"]?.string.map { DisplayText.oneLine($0, limit: 256) }
        guard status != nil || signal != nil || refusal != nil else { return nil }
    }
}
