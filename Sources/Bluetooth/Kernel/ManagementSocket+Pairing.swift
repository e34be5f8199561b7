/// Pairing by the kernel, without asking a person: a board has neither display nor keyboard to compare numbers with
/// (Vol 3 Part H 2.3.5.1, "Just Works"). Whether a device is admitted is decided elsewhere, by a person's consent.
extension ManagementSocket {
    /// Lets an adapter pair and bond, using LE Secure Connections if the other device can.
    func allowPairing(_ adapter: KernelAdapter, _ bonds: Bonds) async throws(BluetoothError) {
        let (index, current) = (adapter.index, adapter.information.current)
        try await send(.setNoInputNoOutput(index))
        if adapter.information.supported.contains(.secureConnections), !current.contains(.secureConnections) {
            // For adapters that also do BR/EDR, the kernel requires the older kind first.
            if current.contains(.classic), !current.contains(.simplePairing) {
                try await send(.setSimplePairing(index))
            }
            try await send(.setSecureConnections(index))
        }
        if !current.contains(.bondable) { try await send(.setBondable(index)) }
        guard bonds.begin(adapter.information.identity) else { return }
        // The kind of keys left in the kernel by another program is unknown.
        try await send(.loadNoLongTermKeys(index))
        // From then on the kernel asks bonding devices for their identity, and recognizes them under any private
        // address.
        try await send(.loadNoIdentities(index))
    }

    /// Records a new key, and makes the kernel forget the oldest if there are too many.
    func keep(_ key: LongTermKey, of peer: BluetoothAddress, on adapter: KernelAdapter, in bonds: Bonds) async {
        guard let oldest = bonds.note(key, of: peer, on: adapter.information.identity) else { return }
        _ = try? await send(.unpair(adapter.index, oldest, hangingUp: false))
    }
}
