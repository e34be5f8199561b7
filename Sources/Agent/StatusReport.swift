import Board
import FoundationEssentials
import Gateway
import Groundwork
import Messaging
import Vault

/// What `latchkey status` shows.
extension Agent {
    func statusReport() async throws -> JSON {
        let now = time.now
        var report: [String: JSON] = [
            "version": .string(Version.text), "time": .string(now.formatted(.iso8601)),
            "uptime": .integer((ContinuousClock.now - started).components.seconds),
            "sensors": [
                "count": .integer(Int64(board.definition.sensors.count)),
                "failing": .array(await board.poller.failing().map { .string($0.sensor) }),
            ],
            "warnings": .array(try await warnings().map(JSON.string)),
        ]
        let setAside = StateDirectory.setAside(in: configuration.stateDirectory)
        if !setAside.isEmpty { report["setAside"] = .array(setAside.map(JSON.string)) }
        if let lastTrouble { report["lastError"] = lastTrouble.json }
        guard let link else {
            report["registration"] = ["state": "unregistered"]
            return .object(report)
        }
        let status = try await link.session.status()
        report.merge(status.report(at: now)) { _, new in new }
        if let trouble = lastTrouble, !trouble.isExplained(by: status.lastFailure) {
            report["lastError"] = trouble.json
        }
        let others = try await gateways.known().filter { $0 != status.gateway }
        if !others.isEmpty { report["otherGateways"] = .array(others.map { ["url": .string($0.baseURL)] }) }
        if let user = try await link.session.user() { report["user"] = user.json(at: now) }
        if await nearby.isSharing { report["sharing"] = true }
        if let station = await link.station {
            let messenger = await station.messenger.status()
            report["broker"] = messenger.report
            report["outbox"] = messenger.outbox.report(at: now)
        } else if let fault = await link.outboxFault {
            report["outbox"] = ["error": .object(fault.explanation)]
        }
        return .object(report)
    }

    /// What a person should change, though everything works.
    func warnings() async throws -> [String] {
        var warnings: [String] = []
        if try await vault.openedBy().kind.isDevelopment {
            warnings.append("the vault is opened by a development key file, which keeps nothing safe")
        }
        if let trouble = StateDirectory.trouble(in: configuration.stateDirectory) { warnings.append(trouble) }
        warnings += board.faults.map(\.message)
        if !time.isPlausible { warnings.append("the clock is wrong; the newest time known stands for it") }
        return warnings
    }
}

extension GatewayStatus {
    /// The members of the status that tell of the gateway.
    func report(at now: Date) -> [String: JSON] {
        var registrationReport: [String: JSON] = ["state": .string(registration.rawValue)]
        if let deviceID { registrationReport["deviceID"] = .string(deviceID) }
        if let magIdentifier { registrationReport["magIdentifier"] = .string(magIdentifier) }
        var report: [String: JSON] = [
            "gateway": [
                "scope": .string(gateway.scope), "host": .string(gateway.host), "port": .integer(Int64(gateway.port)),
                "prefix": .string(gateway.prefix), "url": .string(gateway.baseURL),
            ],
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
        if let lastFailure, now.timeIntervalSince(lastFailure.at) < AgentEvent.shownSeconds {
            report["lastError"] = .object(
                lastFailure.error.explanation.merging(
                    ["time": .string(lastFailure.at.formatted(.iso8601))], uniquingKeysWith: { own, _ in own }))
        }
        return report
    }
}

extension AgentEvent {
    /// Whether the gateway's failure is newer, or the cause of this: without credentials there is no broker.
    fileprivate func isExplained(by failure: GatewayStatus.Failure?) -> Bool {
        guard let failure else { return false }
        if case .broker(.failed(.credentialsUnavailable, _)) = source { return true }
        return failure.at > time
    }
}

extension MessengerStatus {
    fileprivate var report: JSON {
        var report: [String: JSON] = [
            "state": .string(state.rawValue), "address": .string(broker.description),
            "since": .string(since.formatted(.iso8601)), "sent": .integer(Int64(sent)),
            "acknowledged": .integer(Int64(acknowledged)), "received": .integer(Int64(received)),
        ]
        if let lastError { report["lastError"] = .object(lastError.explanation) }
        return .object(report)
    }
}

extension OutboxStatus {
    fileprivate func report(at now: Date) -> JSON {
        var report: [String: JSON] = [
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
