import Synchronization

/// Why a user cannot get another place.
public enum Shortage: Error, Equatable {
    /// The user holds all places of one user.
    case ofUser(limit: Int)
    /// The users who are not owners hold all of theirs.
    case ofOthers(limit: Int)
}

/// A quota: limits how many places each user holds, so that no user can take all of them and the owners always find
/// room.
///
/// One person may act as many users, with subordinate user identifiers or several accounts. So all users who are not
/// owners also share an upper bound.
final class UserShares: Sendable {
    private let limit: Int
    private let othersLimit: Int

    private struct Counts {
        var byUser: [UInt32: Int] = [:]
        var others = 0
    }
    private let counts = Mutex(Counts())

    /// - Parameters:
    ///   - limit: the most places of one user.
    ///   - othersLimit: the most places of all users who are not owners, together.
    init(limit: Int, othersLimit: Int) {
        self.limit = limit
        self.othersLimit = othersLimit
    }

    /// One of a user's places; released with the last reference to it.
    final class Place: Sendable {
        private let shares: UserShares
        private let uid: UInt32
        private let isOwner: Bool

        fileprivate init(_ shares: UserShares, _ uid: UInt32, _ isOwner: Bool) {
            self.shares = shares
            self.uid = uid
            self.isOwner = isOwner
        }

        deinit { shares.leave(uid, isOwner) }
    }

    func take(_ uid: UInt32, isOwner: Bool) throws(Shortage) -> Place {
        let shortage: Shortage? = counts.withLock { counts in
            guard counts.byUser[uid, default: 0] < limit else { return .ofUser(limit: limit) }
            guard isOwner || counts.others < othersLimit else { return .ofOthers(limit: othersLimit) }
            counts.byUser[uid, default: 0] += 1
            if !isOwner { counts.others += 1 }
            return nil
        }
        if let shortage { throw shortage }
        return Place(self, uid, isOwner)
    }

    private func leave(_ uid: UInt32, _ isOwner: Bool) {
        counts.withLock { counts in
            if !isOwner { counts.others -= 1 }
            guard let count = counts.byUser[uid] else { return }
            counts.byUser[uid] = count > 1 ? count - 1 : nil
        }
    }
}
