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

extension AdapterStatus: Answered {
    package static let answer: Answer<AdapterStatus> = [
        "transport": .schema(.string("how the agent reaches the adapter", choices: ["bluez", "kernel"])) {
            $0.transport.rawValue
        },
        "powered": .of("whether it is on") { $0.isPowered },
        "lowEnergy": .of("whether it has Bluetooth Low Energy") { $0.supportsLowEnergy },
        "blocked": .of("whether rfkill blocks it") { $0.isBlocked },
        "canAdvertise": .of("whether others can find this board") { $0.canAdvertise },
        "canScan": .of("whether this board can find others") { $0.canScan },
        "adapter": .of("name, such as hci0") { $0.adapter },
        "address": .of("Bluetooth address") { $0.address.map { "\($0)" } },
        "error": .schema(.problem) { $0.fault?.explanation },
    ]
}
