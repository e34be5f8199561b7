import AgentCore
import Gateway
import Groundwork
import Vault

/// Settings about the users of gateways.
package enum UserSettings {
    package static let flow = Setting("login.flow", preset: "client-credentials")
    package static let askSeconds = Setting("login.ask_seconds", preset: 0)
}

/// Settings about the lock of users' sessions.
package enum LockSettings {
    package static let attempts = Setting("lock.attempts", preset: 10)
    package static let delaySeconds = Setting("lock.delay_seconds", preset: 1)
}

extension AgentConfiguration {
    /// Whose token a call uses that does not say whose.
    package var callPrincipal: Principal { self[UserSettings.flow] == "password" ? .user : .board }

    /// How long people are asked to log in when a call needs a user; `nil` if they are not.
    package var logInPatience: Duration? {
        let seconds = self[UserSettings.askSeconds]
        return seconds > 0 ? .seconds(seconds) : nil
    }

    package var unlockPolicy: UnlockPolicy {
        UnlockPolicy(attempts: self[LockSettings.attempts], delay: Double(self[LockSettings.delaySeconds]))
    }
}
