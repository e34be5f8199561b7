import Synchronization

/// Counts what each user holds of something, so that none can hold all of it.
final class UserShares: Sendable {
    /// The most places of one user.
    let limit: Int
    private let counts = Mutex<[UInt32: Int]>([:])

    init(limit: Int) { self.limit = limit }

    /// One of a user's places; given back with the last reference to it.
    final class Place: Sendable {
        private let shares: UserShares
        private let uid: UInt32

        fileprivate init(_ shares: UserShares, _ uid: UInt32) {
            self.shares = shares
            self.uid = uid
        }

        deinit { shares.leave(uid) }
    }

    /// - Returns: `nil` when the user has all of its places.
    func take(_ uid: UInt32) -> Place? {
        let hasRoom = counts.withLock { counts in
            guard counts[uid, default: 0] < limit else { return false }
            counts[uid, default: 0] += 1
            return true
        }
        return hasRoom ? Place(self, uid) : nil
    }

    private func leave(_ uid: UInt32) {
        counts.withLock { counts in
            guard let count = counts[uid] else { return }
            counts[uid] = count > 1 ? count - 1 : nil
        }
    }
}
