/// How many messages may be under way at once, learned from how connections end, and which message is to blame when they
/// keep ending.
///
/// After a connection that ended with messages under way the next one begins with a single message, and the number doubles
/// each time that so many were acknowledged (slow start, as TCP does it: RFC 5681 section 3.1). A line that breaks again and
/// again then repeats little; and a message that the broker answers by hanging up is soon alone under way, so that it can be
/// told from those around it. MQTT 3.1.1 has no other way to refuse a message.
///
/// A message is blamed only for connections on which the broker acknowledged something else before (``Mailbox/Loss/isProven``):
/// a broker that is ill, or a line that carries nothing, must not turn good messages into dead letters.
struct SendPace: Equatable {
    /// A message that was alone under way when connections ended.
    private struct Suspect: Equatable {
        let id: Int64
        var hangUps = 0
        var endings = 0
    }

    /// A message is given up when the broker hung up so often on it alone...
    static let hangUpLimit = 3
    /// ...or when so many connections ended on it alone in any way: what a network does by itself is seldom the same
    /// message's fault ten times.
    static let endingLimit = 10

    /// The most messages under way at once, ever.
    let limit: Int
    /// The most messages under way at once now.
    private(set) var window: Int
    private var acknowledged = 0
    private var suspect: Suspect?

    init(limit: Int) {
        self.limit = limit
        window = limit
    }

    /// Whether the next message is sent alone, and only on a connection that has proved itself.
    var isCautious: Bool { window == 1 && limit > 1 || suspect != nil }

    mutating func acknowledge(_ ids: [Int64]) {
        if let id = suspect?.id, ids.contains(id) { suspect = nil }
        guard window < limit else { return }
        acknowledged += ids.count
        while acknowledged >= window, window < limit {
            acknowledged -= window
            window = min(window * 2, limit)
        }
    }

    /// A connection ended that the broker had accepted.
    ///
    /// - Returns: the message that is not to be sent any more.
    mutating func connectionEnded(with loss: Mailbox.Loss) -> Int64? {
        guard let id = loss.underWay.first else { return nil }
        (window, acknowledged) = (1, 0)
        guard loss.underWay.count == 1, loss.isProven else { return nil }
        if suspect?.id != id { suspect = Suspect(id: id) }
        suspect?.endings += 1
        if loss.cause == .hangUp { suspect?.hangUps += 1 }
        guard let found = suspect, found.hangUps >= Self.hangUpLimit || found.endings >= Self.endingLimit else {
            return nil
        }
        suspect = nil
        return id
    }
}
