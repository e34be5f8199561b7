import AgentCore
import Bluetooth
import Groundwork

/// The Bluetooth of this board, started on first use: a board that does not use it does not pay for it.
package final actor Radio {
    private let make: @Sendable () async -> any BluetoothTransport
    private var making: Task<any BluetoothTransport, Never>?

    package init(_ make: @escaping @Sendable () async -> any BluetoothTransport) { self.make = make }

    package func transport() async -> any BluetoothTransport {
        let making = making ?? Task { [make] in await make() }
        self.making = making
        return await making.value
    }

    /// The state of the adapter.
    package func status() async -> AdapterStatus { await transport().status() }

    /// Ends it, if it was ever started.
    package func close() async { await making?.value.close() }
}

extension AdapterStatus {
    package var json: JSON {
        var members: [String: JSON] = [
            "transport": .string(transport.rawValue), "powered": .bool(isPowered),
            "lowEnergy": .bool(supportsLowEnergy),
            "blocked": .bool(isBlocked), "canAdvertise": .bool(canAdvertise), "canScan": .bool(canScan),
        ]
        if let adapter { members["adapter"] = .string(adapter) }
        if let address { members["address"] = .string("\(address)") }
        if let fault { members["error"] = .object(fault.explanation) }
        return .object(members)
    }
}
