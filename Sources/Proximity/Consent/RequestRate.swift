/// Counts requests in a sliding minute, for each requester and for all together: a requester can change its address.
struct RequestRate: Sendable {
    /// The most that all together may ask.
    static let overallLimit = 64
    /// The most requests that are remembered although they do not count for all.
    static let othersLimit = 256
    private static let window = Duration.seconds(60)

    private let perRequester: Int
    private let overall: Int
    private var times: [(key: String, at: Duration, isForAll: Bool)] = []

    /// - Parameter perMinute: for one requester; all together may ask four times as often.
    init(perMinute: Int) {
        perRequester = max(perMinute, 1)
        overall = min(4 * max(perMinute, 1), Self.overallLimit)
    }

    /// Whether the request may go on; one that may not is not counted.
    ///
    /// - Parameter isForAll: whether it takes of what all together may ask. What is refused anyhow does not, and of that only
    ///   the newest are remembered.
    mutating func admits(_ key: String, at now: Duration, isForAll: Bool = true) -> Bool {
        times.removeAll { now - $0.at >= Self.window }
        guard times.count(where: { $0.key == key }) < perRequester else { return false }
        if isForAll {
            guard times.count(where: \.isForAll) < overall else { return false }
        } else if times.count(where: { !$0.isForAll }) >= Self.othersLimit,
            let oldest = times.firstIndex(where: { !$0.isForAll })
        {
            times.remove(at: oldest)
        }
        times.append((key, now, isForAll))
        return true
    }
}
