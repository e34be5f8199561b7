import Glibc

/// Names of this machine's users.
enum UserName {
    /// `user NAME`, or `uid NUMBER` if no user has that number.
    static func shown(_ user: uid_t) -> String { name(of: user).map { "user \($0)" } ?? "uid \(user)" }

    /// The name alone, or the number.
    static func of(_ user: uid_t) -> String { name(of: user) ?? "\(user)" }

    private static func name(of user: uid_t) -> String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        // The name of one user and what else is known of it: 16 KiB are enough for any.
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
            guard getpwuid_r(user, &entry, buffer.baseAddress!, buffer.count, &found) == 0, found != nil else {
                return nil
            }
            return entry.pw_name.map { String(cString: $0) }
        }
    }
}
