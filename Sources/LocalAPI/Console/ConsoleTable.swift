import Groundwork

/// The sessions of the console page: who was offered one, who has opened it, and until when it counts.
///
/// Knows no socket and no clock. A token is offered to one user, opens one session, and then expires.
struct ConsoleTable {
    /// The most sessions of all users together, and of one user. A further one of the same user ends the one that
    /// this user has not used for longest.
    static let limit = 16
    static let limitOfUser = 4
    /// How long a token waits to be used.
    static let offerLife = Duration.seconds(120)
    /// How long a session lasts at most, however much it is used.
    static let longestLife = Duration.seconds(12 * 3600)

    typealias Instant = ContinuousClock.Instant

    struct Session {
        let id: Int
        /// Whose rights the session has.
        let peer: Peer
        let offered: Instant
        /// The one-time token until it is used; then `nil`.
        fileprivate(set) var token: String?
        /// What the browser keeps: a cookie that no script can read, and a key that no other origin has.
        fileprivate(set) var cookie = ""
        fileprivate(set) var key = ""
        fileprivate(set) var lastUse: Instant
        /// Requests and streams in progress.
        fileprivate(set) var running = 0

        var isOpen: Bool { token == nil }

        /// - Returns: when it ends unless it is used before; one that is in use is looked at again.
        func end(idle: Duration, now: Instant) -> Instant {
            guard isOpen else { return offered + ConsoleTable.offerLife }
            return min(running > 0 ? now + idle : lastUse + idle, offered + ConsoleTable.longestLife)
        }
    }

    /// How long an unused session lasts.
    let idle: Duration
    private(set) var sessions: [Session] = []
    private var next = 1

    init(idle: Duration) { self.idle = idle }

    /// Offers a session to a user.
    ///
    /// - Returns: the one-time token, and the sessions that ended for it.
    /// - Throws: ``LocalAPIError/tooManyConsoles(limit:)``
    mutating func offer(to peer: Peer, now: Instant) throws(LocalAPIError) -> (token: String, ended: Set<Int>) {
        var ended: Set<Int> = []
        let own = sessions.filter { $0.peer.uid == peer.uid }
        if own.count >= Self.limitOfUser, let oldest = own.min(by: { $0.lastUse < $1.lastUse }) {
            ended = end { $0.id == oldest.id }
        }
        guard sessions.count < Self.limit else { throw .tooManyConsoles(limit: Self.limit) }
        let token = Self.secret()
        sessions.append(Session(id: next, peer: peer, offered: now, token: token, lastUse: now))
        next += 1
        return (token, ended)
    }

    /// Opens the session that was offered with a token, which is used up by that.
    ///
    /// - Throws: ``LocalAPIError/consoleTokenRefused``
    mutating func open(_ token: String, now: Instant) throws(LocalAPIError) -> Session {
        guard
            let index = sessions.firstIndex(where: { session in
                session.token.map { SecretText.isSame($0, token) } == true && session.end(idle: idle, now: now) > now
            })
        else { throw .consoleTokenRefused }
        sessions[index].token = nil
        sessions[index].cookie = Self.secret()
        sessions[index].key = Self.secret()
        sessions[index].lastUse = now
        return sessions[index]
    }

    /// The open session to which both the cookie and the key belong.
    func session(cookies: [String], key: String, now: Instant) -> Session? {
        sessions.first { session in
            session.isOpen && session.end(idle: idle, now: now) > now && SecretText.isSame(session.key, key)
                && cookies.contains { SecretText.isSame(session.cookie, $0) }
        }
    }

    mutating func begin(_ id: Int, now: Instant) { change(id, by: 1, now) }
    mutating func finish(_ id: Int, now: Instant) { change(id, by: -1, now) }

    private mutating func change(_ id: Int, by count: Int, _ now: Instant) {
        guard let index = sessions.firstIndex(where: { $0.id == id }) else { return }
        sessions[index].running += count
        sessions[index].lastUse = now
    }

    /// - Returns: which sessions have ended.
    @discardableResult
    mutating func end(where isMeant: (Session) -> Bool) -> Set<Int> {
        let ended = Set(sessions.filter(isMeant).map(\.id))
        sessions.removeAll { ended.contains($0.id) }
        return ended
    }

    /// Ends what is over.
    ///
    /// - Returns: which sessions have ended, and when to look again; `nil` if none is left.
    mutating func expire(now: Instant) -> (ended: Set<Int>, next: Instant?) {
        let idle = idle
        let ended = end { $0.end(idle: idle, now: now) <= now }
        return (ended, sessions.map { $0.end(idle: idle, now: now) }.min())
    }

    /// 256 random bits of the kernel, as text that may stand in a cookie and in a fragment.
    private static func secret() -> String {
        Hex.encode((0..<32).map { _ in UInt8.random(in: 0...255) })
    }
}
