/// Counts requests in a sliding minute, for each requester and for all together: a requester can change its address.
struct RequestRate: Sendable {
    /// The most requesters remembered at a time.
    static let requesterLimit = 64
    private static let window = Duration.seconds(60)

    private let perRequester: Int
    private let overall: Int
    private var times: [(key: String, at: Duration)] = []

    /// - Parameter perMinute: for one requester; all together may ask four times as often.
    init(perMinute: Int) {
        perRequester = max(perMinute, 1)
        overall = min(4 * max(perMinute, 1), Self.requesterLimit)
    }

    /// Whether the request may go on; one that may not is not counted.
    mutating func admits(_ key: String, at now: Duration) -> Bool {
        times.removeAll { now - $0.at >= Self.window }
        guard times.count < overall, times.count(where: { $0.key == key }) < perRequester else { return false }
        times.append((key, now))
        return true
    }
}
