import Testing

/// What carries Bluetooth to the agent.
enum Transport: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case kernel, bluez

    var testDescription: String { self == .kernel ? "without bluetoothd" : "through bluetoothd" }
}
