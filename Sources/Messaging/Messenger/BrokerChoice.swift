/// Which of several brokers is tried next. The first is preferred. Pure.
struct BrokerChoice: Equatable {
    let count: Int
    private(set) var index = 0
    /// Attempts that failed since the last connection or pause.
    private var failures = 0

    init(of count: Int) { self.count = count }

    var isPreferred: Bool { index == 0 }

    /// An attempt failed.
    ///
    /// - Returns: whether there is a broker that was not tried since the last pause; otherwise the next attempt, after
    ///   one, begins with the first.
    mutating func attemptFailed() -> Bool {
        failures += 1
        guard failures < count else {
            prefer()
            return false
        }
        index = (index + 1) % count
        return true
    }

    /// The present one has accepted a connection: if that is lost, it is tried first.
    mutating func connected() { failures = 0 }

    mutating func prefer() { (index, failures) = (0, 0) }
}
