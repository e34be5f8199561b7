import AgentCore
import Glibc

/// A user of this machine, with the groups that the user database knows.
struct UserAccount: Equatable {
    let uid: UInt32
    let groups: Set<UInt32>

    /// - Throws: ``ListenerError/userUnusable(name:reason:)`` if there is none of that name, or it is root or the
    ///   agent's.
    init(_ name: String) throws(ListenerError) {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        // The name of one user and what else is known of it: 16 KiB are enough for any.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
            _ = getpwnam_r(name, &entry, buffer.baseAddress!, buffer.count, &found)
        }
        guard found != nil else {
            throw .userUnusable(name: name, reason: "it does not exist on this machine")
        }
        guard entry.pw_uid != 0, entry.pw_uid != getuid() else {
            throw .userUnusable(name: name, reason: "this user may do everything")
        }
        var groups = [gid_t](repeating: 0, count: 256)
        var count = Int32(groups.count)
        guard getgrouplist(name, entry.pw_gid, &groups, &count) >= 0 else {
            throw .userUnusable(name: name, reason: "it is in more than \(groups.count) groups")
        }
        uid = entry.pw_uid
        self.groups = Set(groups.prefix(Int(count)))
    }
}
