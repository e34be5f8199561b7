import Synchronization

/// The devices that have paired with the adapters of one transport, and the kinds of their keys.
///
/// Bonds live as long as the transport. The kernel holds the keys, and only those recorded here, because all earlier
/// ones are dropped before the first pairing. Contains no secrets.
final class Bonds: Sendable {
    enum Standing: Equatable, Sendable {
        /// No pairing with the device has been seen.
        case unknown
        /// Both sides keep a key of LE Secure Connections (Vol 3 Part H 2.3.5.6).
        case bonded
        /// The device has a key of another kind, or one that is not kept.
        case weak
    }

    /// The most bonds. A device that uses ever new addresses displaces the oldest bonds.
    static let limit = 128

    private struct Bond {
        let adapter: BluetoothAddress
        let peer: BluetoothAddress
        var isSecure: Bool
    }

    private struct State {
        /// Oldest first.
        var bonds: [Bond] = []
        /// The adapters whose earlier keys were dropped.
        var prepared: Set<BluetoothAddress> = []
    }
    private let state = Mutex(State())

    /// Called before pairing with an adapter.
    ///
    /// - Returns: `true` the first time, when the kernel's keys for this adapter have to be dropped
    func begin(_ adapter: BluetoothAddress) -> Bool { state.withLock { $0.prepared.insert(adapter).inserted } }

    /// Called when the adapter is gone, and its keys with it.
    func forget(_ adapter: BluetoothAddress) {
        state.withLock { state in
            state.prepared.remove(adapter)
            state.bonds.removeAll { $0.adapter == adapter }
        }
    }

    func standing(of peer: BluetoothAddress, on adapter: BluetoothAddress) -> Standing {
        state.withLock { state in
            let bond = state.bonds.first { $0.adapter == adapter && $0.peer == peer }
            return bond.map { $0.isSecure ? .bonded : .weak } ?? .unknown
        }
    }

    /// Records the key of a completed pairing, which replaces an earlier one.
    ///
    /// - Returns: a device displaced by it, whose key the kernel has to forget
    func note(_ key: LongTermKey, of peer: BluetoothAddress, on adapter: BluetoothAddress) -> BluetoothAddress? {
        state.withLock { state in
            state.bonds.removeAll { $0.adapter == adapter && $0.peer == peer }
            state.bonds.append(Bond(adapter: adapter, peer: peer, isSecure: key.isSecure))
            guard state.bonds.count(where: { $0.adapter == adapter }) > Self.limit,
                let oldest = state.bonds.firstIndex(where: { $0.adapter == adapter })
            else { return nil }
            return state.bonds.remove(at: oldest).peer
        }
    }

    func remove(_ peer: BluetoothAddress, on adapter: BluetoothAddress) {
        state.withLock { $0.bonds.removeAll { $0.adapter == adapter && $0.peer == peer } }
    }
}

/// What the kernel reports about a key that two devices have agreed on, except the key itself.
struct LongTermKey: Equatable, Sendable {
    /// Whether both sides bond, and the device can be recognized: by its address, or by its identity.
    let isKept: Bool
    /// `MGMT_LTK_…`
    let kind: UInt8
    /// Size of the key in bytes.
    let size: UInt8

    /// Kinds of keys of LE Secure Connections on curve P-256, with or without comparison by a person, but without the
    /// specification's debug key.
    private static let secureKinds: ClosedRange<UInt8> = 2...3
    private static let wholeSize: UInt8 = 16

    var isSecure: Bool { isKept && Self.secureKinds.contains(kind) && size == Self.wholeSize }
}
