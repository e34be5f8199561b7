/// What a request wants to do.
public enum Permission: String, Sendable, CaseIterable {
    /// Look: status, sensors, events, messages.
    case read
    /// Send messages.
    case publish
    /// Change the board's identity, and act in its name at the gateway.
    case operate
}

/// Who may do what. Permissions are independent: who may operate may not read unless that is granted too.
public struct AccessPolicy: Sendable, Equatable {
    /// The users and groups that have a permission.
    public struct Grant: Sendable, Equatable {
        public var users: Set<UInt32>
        public var groups: Set<UInt32>

        public init(users: Set<UInt32> = [], groups: Set<UInt32> = []) {
            self.users = users
            self.groups = groups
        }
    }

    /// Users who may do everything; root and the daemon's own, as a rule.
    public var owners: Set<UInt32>
    /// A permission that is not named is the owners' alone.
    public var grants: [Permission: Grant]
    /// Group of the socket, whose members may connect at all; `nil` leaves the process's own.
    public var socketGroup: UInt32?

    public init(owners: Set<UInt32>, grants: [Permission: Grant] = [:], socketGroup: UInt32? = nil) {
        self.owners = owners
        self.grants = grants
        self.socketGroup = socketGroup
    }

    /// Whether the user may do everything.
    public func isOwner(_ peer: Peer) -> Bool { owners.contains(peer.uid) }

    func allows(_ peer: Peer, _ permission: Permission) -> Bool {
        if isOwner(peer) { return true }
        guard let grant = grants[permission] else { return false }
        return grant.users.contains(peer.uid) || !grant.groups.isDisjoint(with: peer.groups)
    }
}
