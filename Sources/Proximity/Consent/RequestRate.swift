/// Counts requests in a sliding minute, for each requester and for all together, because a requester can change its
/// address.
struct RequestRate: Sendable {
    /// The maximum for all requesters together.
    static let overallLimit = 64
    /// The maximum number of remembered requests that do not count toward the total.
    static let othersLimit = 256
    private static let window = Duration.seconds(60)

    private let perRequester: Int
    private let overall: Int
    private var times: [(key: String, at: Duration, isForAll: Bool)] = []

    /// - Parameter perMinute: the limit for one requester; all together may ask four times as often.
    init(perMinute: Int) {
        perRequester = max(perMinute, 1)
        overall = min(4 * max(perMinute, 1), Self.overallLimit)
    }

    /// Whether the request is within the limits; if not, it is not counted.
    ///
    /// - Parameter isForAll: whether it counts toward the total. Requests that are refused anyway do not, and only the
    ///   newest of them are remembered.
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
