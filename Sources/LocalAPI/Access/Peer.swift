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
    /// The systemd unit of the process; `nil` if it is unknown, or was not looked up (``LocalServer/Units``).
    public private(set) var unit: String?

    /// Nobody that a policy can name: 2^32-1 is not a user (chown(2) takes it for none).
    static let unknown = Peer(uid: .max, pid: 0, groups: [])

    public init(uid: UInt32, pid: Int32, groups: Set<UInt32>, unit: String? = nil) {
        self.uid = uid
        self.pid = pid
        self.groups = groups
        self.unit = unit
    }

    /// `nil` if the descriptor is not a connected Unix socket.
    ///
    /// - Parameter units: those that are looked for; `nil` if units do not matter.
    init?(descriptor: Int32, units: Set<String>?) {
        var peer = latchkey_peer()
        guard descriptor >= 0, latchkey_peer_of(descriptor, &peer) == 0 else { return nil }
        self.init(uid: peer.uid, pid: peer.pid, groups: Self.supplementaryGroups(descriptor).union([peer.gid]))
        if let units { unit = PeerUnit.of(self, at: descriptor, among: units) }
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
