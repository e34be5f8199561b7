import Synchronization

/// Filters that are no longer wanted, which the broker may still send for. They are on the disk until it has answered
/// that it does not: no kill or lost connection leaves a subscription there for good.
extension InboxStore {
    /// Subscriptions that the broker has from before and that are no longer wanted.
    nonisolated var formerFilters: Set<TopicFilter> { former.withLock { $0 } }

    nonisolated func rememberFormer(_ filter: TopicFilter) { former.withLock { _ = $0.insert(filter) } }

    /// Called when the broker has ended the subscription to a filter.
    func forgetFormerFilter(_ filter: TopicFilter) {
        guard formerFilters.contains(filter), filters[filter] == nil else { return }
        // Where it fails, it is ended once more.
        try? use { try $0.removeFilter(filter.text) }
        former.withLock { _ = $0.remove(filter) }
    }

    /// Called when the broker has no session of before.
    func forgetFormerFilters() {
        guard !formerFilters.isEmpty else { return }
        // Where it fails, they are ended once more.
        try? use { try $0.setFilters(Set(filters.keys.map(\.text))) }
        former.withLock { $0 = [] }
    }
}
