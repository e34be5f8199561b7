import AgentCore
import Bluetooth
import Groundwork

/// Fails when the Bluetooth adapter cannot be used: missing, blocked, without Low Energy or permission. Warns when a
/// device that pairs to be let in could become this board's keyboard.
package struct BluetoothCheck: HealthCheck {
    package static let name = "bluetooth"

    package func run(_ agent: AgentState) -> Verdict {
        guard let adapter = agent.nearby.adapter else {
            return .skip("no adapter can be used, and nothing in the settings needs one")
        }
        if let fault = adapter.fault {
            let remedy = fault.remedy ?? "latchkey proximity status shows what the adapter can do"
            return agent.nearby.sharing == .never
                ? .warn(fault.message, remedy: remedy) : .fail(fault.message, remedy: remedy)
        }
        if agent.nearby.requiresEncryption, adapter.transport == .bluez, agent.nearby.takesKeyboards {
            return .warn(
                "devices pair with bluetoothd, which takes input from any bonded keyboard",
                remedy:
                    "set ReverseServiceDiscovery = false in [General] of /etc/bluetooth/main.conf; see Config/proximity.md"
            )
        }
        return .pass(
            "\(adapter.adapter ?? "an adapter") through \(adapter.transport.rawValue)\(adapter.isPowered ? "" : ", powered when needed")"
        )
    }
}
