import AgentCore
import FoundationEssentials
import Groundwork
import Messaging

// How the states of the messenger and the outbox appear in the status.

extension MessengerStatus {
    package var report: JSON {
        var report: [String: JSON] = [
            "state": .string(state.rawValue), "address": .string(broker.description),
            "since": .string(since.formatted(.iso8601)), "sent": .integer(Int64(sent)),
            "acknowledged": .integer(Int64(acknowledged)), "received": .integer(Int64(received)),
        ]
        if let lastError { report["lastError"] = .object(lastError.explanation) }
        if let lastReport {
            report["errorReports"] = [
                "count": .integer(Int64(reports)), "topic": .string(lastReport.topic), "text": .string(lastReport.text),
                "time": .string(lastReport.time.formatted(.iso8601)),
            ]
        }
        return .object(report)
    }
}

extension OutboxStatus {
    /// - Parameter flushSeconds: the readings of how many seconds a power cut may cost.
    package func report(at now: Date, flushSeconds: Int) -> JSON {
        var report: [String: JSON] = [
            "unwritten": .integer(Int64(unwritten)), "flushSeconds": .integer(Int64(flushSeconds)),
            "depth": .integer(Int64(depth)), "bytes": .integer(Int64(bytes)), "accepted": .integer(Int64(accepted)),
            "delivered": .integer(Int64(delivered)), "dropped": .integer(Int64(dropped.total)),
            "deadLetters": .integer(Int64(deadLetters)),
        ]
        if let oldest { report["oldestAge"] = .integer(Int64(now.timeIntervalSince(oldest))) }
        if let setAside {
            report["setAside"] = .string(setAside)
            report["rescued"] = .integer(Int64(rescued))
        }
        return .object(report)
    }
}
