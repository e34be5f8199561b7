import AgentCore
import FoundationEssentials
import Gateway
import Groundwork

// How the states of sessions at gateways appear in the status.

extension GatewayIdentity {
    package var json: JSON {
        [
            "scope": .string(scope), "host": .string(host), "port": .integer(Int64(port)), "prefix": .string(prefix),
            "url": .string(baseURL),
        ]
    }
}

extension GatewayStatus {
    /// The status members about the gateway.
    package func report(at now: Date) -> [String: JSON] {
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
