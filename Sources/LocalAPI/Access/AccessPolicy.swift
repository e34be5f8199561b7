/// The right that a request needs.
public enum Permission: String, Sendable, CaseIterable {
    /// View status, sensors, events, messages.
    case read
    /// Send messages.
    case publish
    /// Change the board's identity, and act on its behalf at the gateway.
    case operate
    /// Call APIs, and get tokens for them. Everybody may who can connect: the route itself decides, by what it knows of
    /// the program (``LocalRequest/mayOperate``).
    case call
}

/// Which users may do what. Permissions are independent: the right to operate does not include the right to read.
public struct AccessPolicy: Sendable, Equatable {
    /// The users and groups that have a permission.
    public struct AccessRight: Sendable, Equatable {
        public var users: Set<UInt32>
        public var groups: Set<UInt32>

        public init(users: Set<UInt32> = [], groups: Set<UInt32> = []) {
            self.users = users
            self.groups = groups
        }
    }

    /// Users who may do everything; usually root and the daemon's user.
    public var owners: Set<UInt32>
    /// Only the owners have a permission that is not listed.
    public var grants: [Permission: AccessRight]
    /// Group of the socket, whose members may connect; `nil` leaves the process's group.
    public var socketGroup: UInt32?
    public init(owners: Set<UInt32>, grants: [Permission: AccessRight] = [:], socketGroup: UInt32? = nil) {
        self.owners = owners
        self.grants = grants
        self.socketGroup = socketGroup
    }

    /// Whether the user may do everything.
    public func isOwner(_ peer: Peer) -> Bool { isOwner(peer.uid) }

    func isOwner(_ uid: UInt32) -> Bool { owners.contains(uid) }

    func allows(_ peer: Peer, _ permission: Permission) -> Bool {
        if isOwner(peer) || permission == .call { return true }
        guard let right = grants[permission] else { return false }
        return right.users.contains(peer.uid) || !right.groups.isDisjoint(with: peer.groups)
    }
}
