import Glibc

/// Users of this machine as people know them.
enum UserName {
    /// The name of a user, or the number of one that the machine does not know.
    static func of(_ user: uid_t) -> String {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard getpwuid_r(user, &entry, &buffer, buffer.count, &found) == 0, found != nil, let name = entry.pw_name else {
            return "\(user)"
        }
        return String(cString: name)
    }
}
