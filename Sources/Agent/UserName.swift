import Glibc

/// Users as people know them.
enum UserName {
    /// The name of a user, or the number where no user has it.
    static func shown(_ uid: UInt32) -> String {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        // The name of one user and what else is known of it: 16 KiB are enough for any.
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
            guard getpwuid_r(uid, &entry, buffer.baseAddress!, buffer.count, &found) == 0, found != nil else { return "uid \(uid)" }
            return "user \(String(cString: entry.pw_name))"
        }
    }
}
