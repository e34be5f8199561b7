import AgentCore
import FoundationEssentials
import Gateway
import Groundwork
import Messaging

// How the modules' own states appear in the status.

extension GatewayIdentity {
    var json: JSON {
        [
            "scope": .string(scope), "host": .string(host), "port": .integer(Int64(port)), "prefix": .string(prefix),
            "url": .string(baseURL),
        ]
    }
}

extension GatewayStatus {
    /// The status members about the gateway.
    func report(at now: Date) -> [String: JSON] {
        var registrationReport: [String: JSON] = ["state": .string(registration.rawValue)]
        if let deviceID { registrationReport["deviceID"] = .string(deviceID) }
        if let magIdentifier { registrationReport["magIdentifier"] = .string(magIdentifier) }
        var report: [String: JSON] = [
            "gateway": gateway.json,
            "registration": .object(registrationReport),
        ]
        if let certificate {
            report["certificate"] = [
                "notBefore": .string(certificate.notBefore.formatted(.iso8601)),
                "notAfter": .string(certificate.notAfter.formatted(.iso8601)),
                "daysLeft": .integer(Int64(certificate.daysLeft)),
            ]
        }
        if let token {
            report["token"] = [
                "age": .integer(Int64(now.timeIntervalSince(token.receivedAt))),
                "lifeLeft": .integer(Int64(token.expiresAt.timeIntervalSince(now))), "scope": .string(token.scope),
            ]
        }
        if let lastContact { report["lastContact"] = .string(lastContact.formatted(.iso8601)) }
        if let lastFailure, now.timeIntervalSince(lastFailure.at) < Troubles.shownSeconds {
            report["lastError"] = .object(
                lastFailure.error.explanation.merging(
                    ["time": .string(lastFailure.at.formatted(.iso8601))], uniquingKeysWith: { own, _ in own }))
        }
        return report
    }
}

extension MessengerStatus {
    var report: JSON {
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
    func report(at now: Date, flushSeconds: Int) -> JSON {
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
