import Bluetooth

/// Fails when the Bluetooth adapter cannot be used: none, blocked, no Low Energy, no permission.
struct BluetoothCheck: HealthCheck {
    static let name = "bluetooth"

    func run(_ agent: AgentState) -> Verdict {
        guard let adapter = agent.adapter else { return .skip("no adapter can be used, and nothing in the settings needs one") }
        if let fault = adapter.fault {
            let remedy = fault.remedy ?? "latchkey proximity status shows what the adapter can do"
            return agent.sharing == .never ? .warn(fault.message, remedy: remedy) : .fail(fault.message, remedy: remedy)
        }
        return .pass("\(adapter.adapter ?? "an adapter") through \(adapter.transport.rawValue)\(adapter.isPowered ? "" : ", powered when needed")")
    }
}
