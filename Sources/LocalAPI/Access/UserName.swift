import Glibc

/// Names of this machine's users.
public enum UserName {
    /// `user NAME`, or `uid NUMBER` if no user has that number.
    public static func shown(_ user: UInt32) -> String { name(of: user).map { "user \($0)" } ?? "uid \(user)" }

    /// The name alone, or the number.
    public static func of(_ user: UInt32) -> String { name(of: user) ?? "\(user)" }

    /// `user NAME (uid NUMBER)`, or `uid NUMBER` if no user has that number.
    static func full(_ user: UInt32) -> String { name(of: user).map { "user \($0) (uid \(user))" } ?? "uid \(user)" }

    private static func name(of user: UInt32) -> String? {
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
