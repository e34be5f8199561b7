import CMicroHTTPD
import Glibc

/// The process at the other end of a connection, as the kernel recorded it when the connection was made
/// (`SO_PEERCRED`, unix(7)).
public struct Peer: Sendable, Equatable {
    public let uid: UInt32
    public let pid: Int32
    /// Its group and its supplementary groups.
    ///
    /// These are the groups of the process (`SO_PEERGROUPS`), not those of its user in the user database: a service
    /// gets groups from its unit, and looking in the database may need the network.
    public let groups: Set<UInt32>
    /// The systemd unit of the process; `nil` if it has none, or is not known.
    public var unit: String? { if case .known(let unit) = unitFinding { unit } else { nil } }
    /// What is known of the unit.
    private let unitFinding: PeerUnit

    /// A user that no policy can name: 2^32-1 is not a user (chown(2) takes it for none).
    static let unknown = Peer(uid: .max, pid: 0, groups: [])

    public init(uid: UInt32, pid: Int32, groups: Set<UInt32>, unit: String? = nil) {
        self.init(uid: uid, pid: pid, groups: groups, .known(unit))
    }

    init(uid: UInt32, pid: Int32, groups: Set<UInt32>, _ unitFinding: PeerUnit) {
        self.uid = uid
        self.pid = pid
        self.groups = groups
        self.unitFinding = unitFinding
    }

    /// Whether the process is in the unit, or may be as far as is known.
    public func mayBe(in unit: String) -> Bool {
        switch unitFinding {
        case .known(let found): found == unit
        case .noneOf(let units): !units.contains(unit)
        }
    }

    /// `nil` if the descriptor is not a connected Unix socket.
    ///
    /// - Parameter units: those that are looked for; `nil` if units do not matter.
    init?(descriptor: Int32, units: Set<String>?) {
        var peer = latchkey_peer()
        guard descriptor >= 0, latchkey_peer_of(descriptor, &peer) == 0 else { return nil }
        let groups = Self.supplementaryGroups(descriptor).union([peer.gid])
        let unit = units.map { PeerUnit.of(peer.pid, of: peer.uid, at: descriptor, among: $0) }
        self.init(uid: peer.uid, pid: peer.pid, groups: groups, unit ?? .noneOf([]))
    }

    /// Empty if the kernel does not report them: then only user and group count.
    private static func supplementaryGroups(_ descriptor: Int32) -> Set<UInt32> {
        var groups: [gid_t] = []
        var bytes: socklen_t = 0
        // With too small a buffer, the kernel reports the size it needs.
        while latchkey_groups_of(descriptor, &groups, &bytes) != 0 {
            guard errno == ERANGE, Int(bytes) > groups.count * MemoryLayout<gid_t>.stride else { return [] }
            groups = Array(repeating: 0, count: Int(bytes) / MemoryLayout<gid_t>.stride)
        }
        return Set(groups.prefix(Int(bytes) / MemoryLayout<gid_t>.stride))
    }
}
