import CMicroHTTPD
import Glibc

/// Who is at the other end of a connection, by the kernel's word at the time it was made (`SO_PEERCRED`, unix(7)).
public struct Peer: Sendable, Equatable {
    public let uid: UInt32
    public let pid: Int32
    /// Its group and its supplementary groups.
    ///
    /// They are the process's own (`SO_PEERGROUPS`), not those the user data base gives its user: a service gets groups
    /// from its unit, and asking the data base may mean asking the network.
    public let groups: Set<UInt32>

    public init(uid: UInt32, pid: Int32, groups: Set<UInt32>) {
        self.uid = uid
        self.pid = pid
        self.groups = groups
    }

    /// `nil` when the descriptor is no connected Unix socket.
    init?(descriptor: Int32) {
        var peer = latchkey_peer()
        guard descriptor >= 0, latchkey_peer_of(descriptor, &peer) == 0 else { return nil }
        self.init(uid: peer.uid, pid: peer.pid, groups: Self.supplementaryGroups(descriptor).union([peer.gid]))
    }

    /// None where the kernel does not say: then only user and group count.
    private static func supplementaryGroups(_ descriptor: Int32) -> Set<UInt32> {
        var groups: [gid_t] = []
        var bytes: socklen_t = 0
        // Without room, the kernel says how much it needs.
        while latchkey_groups_of(descriptor, &groups, &bytes) != 0 {
            guard errno == ERANGE, Int(bytes) > groups.count * MemoryLayout<gid_t>.stride else { return [] }
            groups = Array(repeating: 0, count: Int(bytes) / MemoryLayout<gid_t>.stride)
        }
        return Set(groups.prefix(Int(bytes) / MemoryLayout<gid_t>.stride))
    }
}
