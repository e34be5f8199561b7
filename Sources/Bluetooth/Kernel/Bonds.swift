import Synchronization

/// Which devices have paired with the adapters of one transport, and with which kind of key.
///
/// Bonds live as long as the transport: the kernel holds the keys, and has none that this does not know of, since whatever was
/// left in it is dropped before the first pairing. Nothing secret is in here.
final class Bonds: Sendable {
    enum Standing: Equatable, Sendable {
        /// No pairing of it has been seen.
        case unknown
        /// Both sides keep a key of LE Secure Connections (Vol 3 Part H 2.3.5.6).
        case bonded
        /// It has a key of another kind, or one that is not kept.
        case weak
    }

    /// A device that comes under ever new addresses pushes out who paired first.
    static let limit = 128

    private struct Bond {
        let adapter: BluetoothAddress
        let peer: BluetoothAddress
        var isSecure: Bool
    }

    private struct State {
        /// Oldest first.
        var bonds: [Bond] = []
        var begun: Set<BluetoothAddress> = []
    }
    private let state = Mutex(State())

    /// - Returns: `true` where the keys that the kernel has for this adapter are nobody's
    func begin(_ adapter: BluetoothAddress) -> Bool { state.withLock { $0.begun.insert(adapter).inserted } }

    /// The adapter has gone, and its keys with it.
    func forget(_ adapter: BluetoothAddress) {
        state.withLock { state in
            state.begun.remove(adapter)
            state.bonds.removeAll { $0.adapter == adapter }
        }
    }

    func standing(of peer: BluetoothAddress, on adapter: BluetoothAddress) -> Standing {
        state.withLock { state in
            let bond = state.bonds.first { $0.adapter == adapter && $0.peer == peer }
            return bond.map { $0.isSecure ? .bonded : .weak } ?? .unknown
        }
    }

    /// A pairing has ended with a key. It replaces the one before.
    ///
    /// - Returns: the device that has to make room for it: the kernel is to forget its key
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

/// What the kernel tells of a key two devices have agreed on, but for the key.
struct LongTermKey: Equatable, Sendable {
    /// Both sides bond, and the device can be known again: by its address, or by an identity it gave.
    let isKept: Bool
    /// `MGMT_LTK_…`
    let kind: UInt8
    /// In bytes.
    let size: UInt8

    /// Of LE Secure Connections, on curve P-256: compared by a person or not, but not of the specification's debug key.
    private static let secureKinds: ClosedRange<UInt8> = 2...3
    private static let wholeSize: UInt8 = 16

    var isSecure: Bool { isKept && Self.secureKinds.contains(kind) && size == Self.wholeSize }
}
