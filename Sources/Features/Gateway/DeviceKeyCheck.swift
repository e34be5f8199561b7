import AgentCore
import Groundwork
import Vault

/// Says where the device's key is; fails when the hardware that has it does not sign, and warns when the settings want
/// it elsewhere.
package struct DeviceKeyCheck: HealthCheck {
    package static let name = "device-key"

    package func run(_ agent: AgentState) -> Verdict {
        guard let key = agent.gateway.key else { return .skip("no registration yet") }
        if let fault = key.fault {
            return .fail(
                "\(key.keeper.place), and cannot be used: \(fault.message)",
                remedy: fault.remedy ?? "see: latchkey status")
        }
        guard key.keeper == key.wanted else {
            return .warn(
                "\(key.keeper.place); the settings want it \(key.wanted.place) (identity.key)",
                remedy: "a key stays where it was made; register the board again to get another, or change the setting")
        }
        return .pass(key.keeper == .software ? key.keeper.place : "\(key.keeper.place), and signs")
    }
}
