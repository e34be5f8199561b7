import AgentCore
import Proximity

/// When a gateway is asked whether another device has scanned a code.
package enum PollingSettings {
    package static let delaySeconds = Setting("login.poll_delay_seconds", preset: 10)
    package static let seconds = Setting("login.poll_seconds", preset: 5)
    package static let limit = Setting("login.poll_limit", preset: 6)
}

extension AgentConfiguration {
    package var pollingPlan: PollingPlan {
        PollingPlan(
            first: .seconds(self[PollingSettings.delaySeconds]), interval: .seconds(self[PollingSettings.seconds]),
            limit: self[PollingSettings.limit])
    }
}
