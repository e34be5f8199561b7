/// What programs do with an inbox: they list, read and acknowledge its messages.
extension InboxStore {
    /// Every inbox of the settings, those that were added, and those of before that still hold messages.
    public func statuses() throws(MessagingError) -> [InboxStatus] {
        try dropOld()
        let (policies, added) = (policies, Set(added.map(\.name)))
        let names = Set(policies.map(\.name))
        let configured = policies.map { policy in
            var status = known[policy.name] ?? InboxStatus(name: policy.name)
            (status.filter, status.isAdded) = (policy.filter, added.contains(policy.name))
            return status
        }
        return configured
            + known.values.filter { !names.contains($0.name) && $0.unread + $0.dead > 0 }
            .sorted { $0.name < $1.name }
    }

    /// The oldest messages after `id`; the first may be larger than `bytes`.
    ///
    /// - Throws: ``MessagingError``: `noSuchInbox`, `inboxUnusable`
    public func page(
        of name: String, after id: Int64 = 0, limit: Int = 100, bytes: Int = 256 << 10
    ) throws(MessagingError) -> [KeptMessage] {
        try dropOld()
        try check(name)
        return try use { try $0.page(of: name, after: id, limit: limit, bytes: bytes) }
    }

    /// Removes messages that were read.
    ///
    /// - Parameters:
    ///   - id: of a message; one that was acknowledged before may be acknowledged again.
    ///   - alone: whether to keep those before it.
    /// - Returns: how many were removed.
    /// - Throws: ``MessagingError``: `noSuchInbox`, `inboxUnusable`; `messageNotThere` for a number that no message of
    ///   any inbox has had yet, or beyond all that this one is known to have had: no program can have read all up to
    ///   there.
    @discardableResult
    public func acknowledge(_ id: Int64, alone: Bool = false, of name: String) throws(MessagingError) -> Int {
        try check(name)
        let lastGiven = try use { try $0.lastNumber() }
        guard id <= (alone ? lastGiven : highest[name] ?? lastGiven) else {
            throw .messageNotThere(id, inbox: name, newest: known[name]?.last)
        }
        return try change { try $0.remove((alone ? id : 1)...id, of: name) }
    }

    /// Removes all messages of an inbox.
    ///
    /// - Returns: how many there were.
    public func removeAll(of name: String) throws(MessagingError) -> Int {
        try check(name)
        return try change { try $0.removeAll(of: name) }
    }

    func check(_ name: String) throws(MessagingError) {
        // Whatever was opened: an inbox of before is known by its messages.
        _ = try use { _ in }
        guard known[name] != nil || policies.contains(where: { $0.name == name }) else { throw .noSuchInbox(name) }
    }
}
