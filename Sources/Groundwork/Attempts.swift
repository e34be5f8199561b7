import Synchronization

/// How often one piece of work may still be tried; shared by everything that may repeat it.
public final class Attempts: Sendable {
    private let limit: Int
    private let spent = Mutex(0)

    /// - Parameter limit: how many attempts there are in all.
    public init(limit: Int) { self.limit = limit }

    /// Takes one attempt; `false` when none is left.
    public func take() -> Bool {
        spent.withLock { spent in
            guard spent < limit else { return false }
            spent += 1
            return true
        }
    }

    /// Whether none is left.
    public var isSpent: Bool { spent.withLock { $0 >= limit } }
}
