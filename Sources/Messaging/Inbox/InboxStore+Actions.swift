import FoundationEssentials
import Groundwork

/// What actions need of their inboxes: each takes its messages one by one.
extension InboxStore {
    /// The oldest message, whose attempt is counted on the disk before it is made: a message that takes the board with
    /// it is given up like any other.
    ///
    /// - Returns: `nil` if none waits.
    public func begin(_ name: String) throws(MessagingError) -> KeptMessage? {
        guard let message = try page(of: name, limit: 1).first else { return nil }
        try change { try $0.countAttempts(1, of: message.id) }
        return message
    }

    /// Takes back an attempt that was broken off from this side.
    public func withdraw(_ id: Int64) throws(MessagingError) { try change { try $0.countAttempts(-1, of: id) } }

    /// - Parameter report: as the local API shows it.
    public func finish(
        _ id: Int64, of name: String, _ verdict: ActionVerdict, began: Date, report: [UInt8]
    ) throws(MessagingError) {
        try change { file in
            switch verdict {
            case .done: _ = try file.remove(id...id, of: name)
            case .dead: try file.setDead(id, of: name)
            case .again: break
            }
            try file.addRun(of: name, began: began, report: report)
        }
    }

    /// Gives messages that were given up to their action again.
    ///
    /// - Returns: how many.
    public func revive(_ name: String) throws(MessagingError) -> Int {
        try check(name)
        let count = try change { try $0.revive(name) }
        if count > 0 { arrivals.send(name) }
        return count
    }

    /// The reports of the latest runs, the oldest first.
    public func runs(of name: String) throws(MessagingError) -> [[UInt8]] { try use { try $0.runs(of: name) } }
}

/// What becomes of a message after an action.
public enum ActionVerdict: String, Sendable, CaseIterable {
    case done, again
    /// It is given up and set aside.
    case dead
}
