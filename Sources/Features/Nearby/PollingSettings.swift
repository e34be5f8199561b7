import AgentCore
import Proximity

/// When a gateway is asked whether another device has scanned a code.
package struct PollingSettings: TypedValue {
    package var delaySeconds = 10
    package var seconds = 5
    package var limit = 6

    package init() {}
}

extension AgentConfiguration {
    package var pollingPlan: PollingPlan {
        PollingPlan(
            first: .seconds(self[PollingSettings.self].delaySeconds),
            interval: .seconds(self[PollingSettings.self].seconds),
            limit: self[PollingSettings.self].limit)
    }
}
