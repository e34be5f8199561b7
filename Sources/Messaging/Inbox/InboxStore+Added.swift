import Groundwork

/// Inboxes that are added and removed while the agent runs, beside those of the settings.
extension InboxStore {
    /// The most that may be added.
    public static let addedLimit = 32
    /// The most filters that the broker has not ended yet and that an inbox may add to: without a connection, each one
    /// that is added and removed leaves its own.
    static let formerLimit = 256

    /// Adds an inbox, which is kept until it is removed or the identity ends that its messages belong to. The broker is
    /// asked for its messages by ``Messenger/begin(_:)``.
    ///
    /// - Returns: whether it was not there.
    /// - Throws: ``MessagingError``: `inboxExists`, `tooManyInboxes`, `tooManyFormerInboxes`, `inboxUnusable`
    public func add(_ policy: InboxPolicy) throws(MessagingError) -> Bool {
        _ = try use { _ in }
        if let known = policies.first(where: { $0.name == policy.name }) {
            guard known == policy else { throw .inboxExists(policy.name) }
            return false
        }
        guard added.count < Self.addedLimit else { throw .tooManyInboxes(limit: Self.addedLimit) }
        let former = formerFilters
        guard former.count < Self.formerLimit || former.contains(policy.filter) else {
            throw .tooManyFormerInboxes(limit: Self.formerLimit)
        }
        try change { file in
            try file.add(policy)
            killPoint("inbox-add-written")
        }
        killPoint("inbox-added")
        take(added: added + [policy])
        return true
    }

    /// Removes an inbox that was added, with all of its messages.
    ///
    /// - Returns: how many there were, and what it was, for ``Messenger/end(_:)``; `nil` if none was added by that
    ///   name.
    public func remove(_ name: String) throws(MessagingError) -> (messages: Int, inbox: InboxPolicy)? {
        _ = try use { _ in }
        guard let policy = added.first(where: { $0.name == name }) else { return nil }
        let messages = try change { file in
            let messages = try file.removeAll(of: name)
            try file.removeAdded(name)
            killPoint("inbox-remove-written")
            return messages
        }
        killPoint("inbox-removed")
        take(added: added.filter { $0.name != name })
        if filters[policy.filter] == nil { rememberFormer(policy.filter) }
        return (messages, policy)
    }
}
