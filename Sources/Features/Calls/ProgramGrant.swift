import AgentCore
import Gateway
import Groundwork
import LocalAPI

/// What local programs of a user, a group or a systemd unit may do in the name of the board or its user.
package struct ProgramGrant: Sendable, Equatable {
    /// The most grants of the settings, and the most that are kept beside them.
    package static let limit = 64
    /// The gateway of an account, among the names of hosts.
    package static let gatewayHost = "gateway"

    /// The programs: everything that is set has to match.
    package struct Subject: Sendable, Hashable {
        package var uid: UInt32?
        package var gid: UInt32?
        /// A unit of the system's manager.
        package var unit: String?

        package var isEmpty: Bool { uid == nil && gid == nil && unit == nil }

        package func fits(_ peer: Peer) -> Bool {
            !isEmpty && fitsUser(peer) && unit.map { $0 == peer.unit } ?? true
        }

        /// Whether it fits, or would fit if the program's unit were known and the one named.
        package func mayFit(_ peer: Peer) -> Bool { !isEmpty && fitsUser(peer) && unit.map(peer.mayBe) ?? true }

        private func fitsUser(_ peer: Peer) -> Bool {
            uid.map { $0 == peer.uid } ?? true && gid.map(peer.groups.contains) ?? true
        }
    }

    package enum Verdict: String, Sendable, CaseIterable {
        case allow
        /// Refuses what it names, without asking anybody; also to those who may operate. Accounts, hosts and scopes are
        /// all where it names none; what the vault has for programs only where it names it.
        case never
    }

    /// A name in the settings, or a number.
    package var id: String
    package var subject = Subject()
    package var verdict = Verdict.allow
    /// Whose token may be used.
    package var principals: Set<Principal> = [.board]
    package var accounts: Set<String> = [AccountName.gateway.text]
    /// ``gatewayHost``, or `host:port` of configured hosts.
    package var hosts: Set<String> = [ProgramGrant.gatewayHost]
    /// Each a path, or the beginning of paths, which ends with `/*`.
    package var paths = ["/*"]
    /// Scopes that may be asked for beyond the configured ones.
    package var scopes: Set<String> = []
    /// Whether the programs may have the token itself.
    package var token = false
    /// Whether the programs may use keys and credentials that the vault has for their user ID.
    package var store = false
    /// Other user IDs whose keys and credentials they may use.
    package var storeOf: Set<UInt32> = []

    package var isOfStore: Bool { store || !storeOf.isEmpty }

    /// Has it allow no calls, as one that only says what the vault has for programs.
    package mutating func allowOnlyStore() { (accounts, hosts) = ([], []) }

    /// Whether it is about a program. A refusal is also about those for which that is unknown: a program must not
    /// evade it by hiding its unit.
    package func concerns(_ peer: Peer) -> Bool { verdict == .never ? subject.mayFit(peer) : subject.fits(peer) }

    /// What is left of it when an account ends; `nil` if nothing is. A refusal stays.
    package func ending(at account: AccountName) -> ProgramGrant? {
        guard verdict == .allow, accounts.contains(account.text) else { return self }
        var rest = self
        rest.accounts.remove(account.text)
        return rest.accounts.isEmpty && !rest.isOfStore ? nil : rest
    }

    /// What is left of it when a host is trusted in another way, or no more; `nil` if nothing is. A refusal stays, and
    /// so does the token itself, which goes to no host by the agent.
    ///
    /// - Parameter host: `host:port`.
    package func ending(atHost host: String) -> ProgramGrant? {
        guard verdict == .allow, hosts.contains(host) else { return self }
        var rest = self
        rest.hosts.remove(host)
        return rest.hosts.isEmpty && !rest.token && !rest.isOfStore ? nil : rest
    }

    /// Whether it is about what a program wants to do.
    package func covers(_ use: GrantUse) -> Bool {
        if let store = use.store { return covers(store) }
        if verdict == .never { return refuses(use) }
        guard accounts.contains(use.account.text), use.scopes.isSubset(of: scopes) else { return false }
        if let principal = use.principal, !principals.contains(principal) { return false }
        guard let target = use.target else { return token }
        return hosts.contains(target.host) && paths.contains { Self.path($0, matches: target.segments) }
    }

    private func covers(_ owner: GrantUse.Store) -> Bool {
        switch owner {
        case .own: store
        case .of(let uid): storeOf.contains(uid)
        }
    }

    /// A program that has the token itself could do all of it.
    private func refuses(_ use: GrantUse) -> Bool {
        guard accounts.isEmpty || accounts.contains(use.account.text) else { return false }
        guard use.principal.map(principals.contains) ?? true else { return false }
        guard scopes.isEmpty || !use.scopes.isDisjoint(with: scopes) else { return false }
        guard let target = use.target else { return true }
        guard hosts.isEmpty || hosts.contains(target.host) else { return false }
        // In every spelling that a server may take for the same.
        let plain = Self.plain(target.segments)
        return paths.contains { Self.path($0, matches: target.segments) || Self.path($0, matchesPlain: plain) }
    }

    /// Segments as servers may read them that disregard case, parameters and a slash at the end.
    package static func plain(_ segments: [String]) -> [String] {
        segments.map { StrictPath.name(of: $0).lowercased() }.filter { !$0.isEmpty }
    }

    private static func path(_ pattern: String, matchesPlain segments: [String]) -> Bool {
        guard pattern != "/*" else { return true }
        let isBeginning = pattern.hasSuffix("/*")
        guard let own = try? StrictPath.segments(of: isBeginning ? pattern.dropLast(2) : pattern[...]) else {
            return false
        }
        return isBeginning ? segments.starts(with: plain(own)) : segments == plain(own)
    }

    package static func path(_ pattern: String, matches segments: [String]) -> Bool {
        guard pattern.hasSuffix("/*") else { return (try? StrictPath.segments(of: pattern)) == segments }
        guard let beginning = try? StrictPath.segments(of: pattern.dropLast(2)) else { return pattern == "/*" }
        return segments.starts(with: beginning) && segments.count > beginning.count
    }

    package static func isPath(_ pattern: String) -> Bool {
        pattern == "/*"
            || (try? StrictPath.segments(of: pattern.hasSuffix("/*") ? pattern.dropLast(2) : pattern[...])) != nil
    }
}

/// What a program wants to do.
package struct GrantUse: Sendable, Hashable {
    /// Where a call goes.
    package struct Target: Sendable, Hashable {
        /// ``ProgramGrant/gatewayHost``, or `host:port`.
        package var host: String
        /// Of the path below the gateway, or at the host.
        package var segments: [String]
    }

    /// `nil` if the program does not say in whose name.
    package var principal: Principal?
    package var account: AccountName
    package var scopes: Set<String> = []
    /// `nil` if it wants the token itself.
    package var target: Target?
    /// Not about an account, but about what the vault has for programs.
    package var store: Store?

    /// Whose keys and credentials a program wants to use.
    package enum Store: Sendable, Hashable {
        case own
        /// A user ID that is not the program's.
        case of(UInt32)
    }

    /// For people: `call api.example:8443`, `have the access token at the account plant2`.
    package var text: String {
        switch store {
        case .own: return "use keys and credentials of its user"
        case .of(let uid): return "use keys and credentials of uid \(uid)"
        case nil: break
        }
        let place = account == .gateway ? "" : " at the account \(account.text)"
        return (target.map { "call \($0.host)" } ?? "have the access token") + place
    }
}

/// A program that asks, as the kernel and the policy know it.
package struct LocalProgram: Sendable {
    package let peer: Peer
    package let isOwner: Bool
    package let mayOperate: Bool

    package init(_ request: LocalRequest) {
        (peer, isOwner, mayOperate) = (request.peer, request.isOwner, request.mayOperate)
    }

    package init(_ head: RelayHead) { (peer, isOwner, mayOperate) = (head.peer, head.isOwner, head.mayOperate) }

    package init(peer: Peer, isOwner: Bool = false, mayOperate: Bool = false) {
        (self.peer, self.isOwner, self.mayOperate) = (peer, isOwner, mayOperate)
    }

    /// The programs that an answer about this one is about too. The user's service manager and sessions are not
    /// programs.
    package var subject: ProgramGrant.Subject {
        let unit = peer.unit.flatMap {
            ProgramGrant.isUnit($0) && $0.hasSuffix(".service") && !$0.hasPrefix("user@") ? $0 : nil
        }
        return ProgramGrant.Subject(uid: peer.uid, unit: unit)
    }

    /// `sensors.service (user alice, uid 1000)`.
    package var name: String {
        let user = "user \(UserName.of(peer.uid)), uid \(peer.uid)"
        return subject.unit.map { "\(DisplayText.clean($0)) (\(user))" } ?? "a program of \(user)"
    }

    package var members: [String: JSON] {
        var members: [String: JSON] = ["uid": .integer(Int64(peer.uid)), "user": .string(UserName.of(peer.uid))]
        members["unit"] = peer.unit.map { .string(DisplayText.clean($0)) }
        return members
    }
}
