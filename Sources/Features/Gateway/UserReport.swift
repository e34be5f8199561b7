import AgentCore
import FoundationEssentials
import Gateway
import Groundwork
import Vault

// How users appear in answers.

extension UserStatus {
    package func json(at now: Date) -> JSON {
        var members: [String: JSON] = ["loggedIn": true, "loggedInAt": .string(loggedInAt.formatted(.iso8601))]
        if let userName { members["userName"] = .string(userName) }
        if let idTokenExpiresAt { members["sessionEnds"] = .string(idTokenExpiresAt.formatted(.iso8601)) }
        if let token { members["tokenLifeLeft"] = .integer(Int64(token.lifeLeft(at: now))) }
        return .object(members)
    }
}

extension SessionLockStatus {
    /// As a user who cannot be used at present.
    package func json(_ policy: UnlockPolicy) -> JSON {
        var members: [String: JSON] = [
            "loggedIn": false, "locked": true, "loggedInAt": .string(loggedInAt.formatted(.iso8601)),
            "lockedAt": .string(lockedAt.formatted(.iso8601)),
            "attemptsLeft": .integer(Int64(max(policy.attempts - failures, 0))),
        ]
        if let userName { members["userName"] = .string(userName) }
        if let sessionEnds { members["sessionEnds"] = .string(sessionEnds.formatted(.iso8601)) }
        return .object(members)
    }
}
