import AgentCore
import Gateway
import Groundwork
import Vault

/// Settings of the table `[login]` about the users of gateways.
package struct UserSettings: TypedValue {
    package var flow = "client-credentials"
    /// How long people are asked to log in when a call needs a user; 0: not at all.
    package var askSeconds = 0
    /// Whether people may log in on the gateway's own page.
    package var page = true

    package init() {}
}

/// The table `[lock]`, about the lock of users' sessions.
package struct LockSettings: TypedValue {
    package var needsButton = false
    package var attempts = 10
    package var delaySeconds = 1

    package init() {}
}

extension AgentConfiguration {
    /// Whose token a call uses that does not say whose.
    package var callPrincipal: Principal { self[UserSettings.self].flow == "password" ? .user : .board }

    /// How long people are asked to log in when a call needs a user; `nil` if they are not.
    package var logInPatience: Duration? {
        let seconds = self[UserSettings.self].askSeconds
        return seconds > 0 ? .seconds(seconds) : nil
    }

    package var unlockPolicy: UnlockPolicy {
        UnlockPolicy(attempts: self[LockSettings.self].attempts, delay: Double(self[LockSettings.self].delaySeconds))
    }
}
