/// Pairing by the kernel. Nobody is asked: a board has neither display nor keyboard to compare numbers with (Vol 3 Part H
/// 2.3.5.1, "Just Works"), and who is let in is decided elsewhere, by whoever gives consent.
extension ManagementSocket {
    /// Lets an adapter pair and bond, by LE Secure Connections where the other side can.
    func allowPairing(_ adapter: KernelAdapter, _ bonds: Bonds) async throws(BluetoothError) {
        let (index, current) = (adapter.index, adapter.information.current)
        try await send(.setNoInputNoOutput(index))
        if adapter.information.supported.contains(.secureConnections), !current.contains(.secureConnections) {
            // Of adapters that do BR/EDR too, the kernel asks for the older kind first.
            if current.contains(.classic), !current.contains(.simplePairing) {
                try await send(.setSimplePairing(index))
            }
            try await send(.setSecureConnections(index))
        }
        if !current.contains(.bondable) { try await send(.setBondable(index)) }
        guard bonds.begin(adapter.information.identity) else { return }
        // Of keys that somebody left in the kernel nobody knows the kind.
        try await send(.loadNoLongTermKeys(index))
        // From then on it asks devices that bond for their identity, and knows them by it under any private address.
        try await send(.loadNoIdentities(index))
    }

    /// Notes a new key, and has the kernel forget one where there are too many.
    func keep(_ key: LongTermKey, of peer: BluetoothAddress, on adapter: KernelAdapter, in bonds: Bonds) async {
        guard let oldest = bonds.note(key, of: peer, on: adapter.information.identity) else { return }
        _ = try? await send(.unpair(adapter.index, oldest, hangingUp: false))
    }
}
