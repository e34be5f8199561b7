/// Limits how many messages may be in flight, learned from how connections end, and finds the message to blame when
/// they keep ending.
///
/// After a connection that ended with messages in flight, the next one starts with a single message, and the limit
/// doubles each time that many are acknowledged (slow start as in TCP, RFC 5681 section 3.1). A line that keeps
/// breaking then repeats little, and a message that the broker answers by hanging up is soon alone in flight, so that
/// it can be identified. MQTT 3.1.1 has no other way to refuse a message.
///
/// A message is blamed only for connections on which the broker acknowledged something else before
/// (``ConnectionLoss/isProven``): a failing broker or a dead line must not turn good messages into dead letters.
///
/// A user of whose messages one was given up gets no more such tries until the limit is reached again: no other user
/// waits for as many connections as one program has messages that the broker does not take.
struct SendPace: Equatable {
    /// A message that was alone in flight when connections ended.
    private struct Suspect: Equatable {
        let id: Int64
        var hangUps = 0
        var endings = 0
    }

    /// A message is given up when the broker has hung up this many times on it alone...
    static let hangUpLimit = 3
    /// ...or when this many connections have ended on it alone in any way: network trouble seldom hits the same
    /// message ten times.
    static let endingLimit = 10

    /// The upper bound of ``window``.
    let limit: Int
    /// The most messages in flight at once, at present.
    private(set) var window: Int
    private var acknowledged = 0
    private var suspect: Suspect?
    private var offenders: Set<UInt32> = []

    init(limit: Int) {
        self.limit = limit
        window = limit
    }

    /// Whether the next message is sent alone, and only on a connection that has proved itself.
    var isCautious: Bool { window == 1 && limit > 1 || suspect != nil }

    /// Whether it may have been the message that was under way which ended the connection.
    func suspects(_ loss: ConnectionLoss) -> Bool { suspect != nil && suspect?.id == loss.underWay.first }

    mutating func acknowledge(_ ids: [Int64]) {
        if let id = suspect?.id, ids.contains(id) { suspect = nil }
        guard window < limit else { return offenders.removeAll() }
        acknowledged += ids.count
        while acknowledged >= window, window < limit {
            acknowledged -= window
            window = min(window * 2, limit)
        }
    }

    /// Called when a connection ended that the broker had accepted.
    ///
    /// - Parameter owner: of the message that was under way.
    /// - Returns: the message that must not be sent any more.
    mutating func connectionEnded(with loss: ConnectionLoss, of owner: OutboxShare? = nil) -> Int64? {
        guard let id = loss.underWay.first else { return nil }
        (window, acknowledged) = (1, 0)
        guard loss.underWay.count == 1, loss.isProven else { return nil }
        if suspect?.id != id { suspect = Suspect(id: id) }
        suspect?.endings += 1
        if loss.cause == .hangUp { suspect?.hangUps += 1 }
        var hangUpLimit = Self.hangUpLimit
        if case .user(let user) = owner, offenders.contains(user) { hangUpLimit = 1 }
        guard let found = suspect, found.hangUps >= hangUpLimit || found.endings >= Self.endingLimit else {
            return nil
        }
        if case .user(let user) = owner { offenders.insert(user) }
        suspect = nil
        return id
    }
}
