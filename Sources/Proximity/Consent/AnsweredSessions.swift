/// The authorization sessions about which a person was asked, remembered while another request for them could come.
struct AnsweredSessions: Sendable {
    /// The maximum number of remembered sessions: more than can be requested in that time.
    static let limit = 1024

    private let memory: Duration
    private var sessions: [(name: String, at: Duration)] = []

    init(memory: Duration) { self.memory = memory }

    mutating func contains(_ session: String, at now: Duration) -> Bool {
        sessions.removeAll { now - $0.at >= memory }
        return sessions.contains { $0.name == session }
    }

    mutating func insert(_ session: String, at now: Duration) {
        if sessions.count >= Self.limit { sessions.removeFirst() }
        sessions.append((session, now))
    }
}
