import Storage

/// Reads rows in order, skipping those that cannot be read.
struct RescueReader {
    let store: OutboxDatabase
    /// The widest gap of message numbers that is searched for readable rows.
    private static let reach: Int64 = 1 << 32
    var cursor: Int64 = 0
    var isAtEnd = false

    mutating func next() -> [QueuedMessage]? {
        guard !isAtEnd else { return nil }
        if let messages = read(after: cursor, limit: 64) { return messages }
        // One by one up to the damage, then past it.
        if let messages = read(after: cursor, limit: 1) { return messages }
        return skip() ? [] : nil
    }

    private mutating func read(after id: Int64, limit: Int) -> [QueuedMessage]? {
        guard let page = try? store.page(after: id, limit: limit, bytes: 1 << 20) else { return nil }
        isAtEnd = page.isLast
        cursor = page.messages.last?.id ?? id
        return page.messages
    }

    /// Moves the cursor to just before the next readable row.
    private mutating func skip() -> Bool {
        var (bad, step): (Int64, Int64) = (cursor, 1)
        while !isReadable(after: cursor + step) {
            bad = cursor + step
            step *= 2
            guard step <= Self.reach else { return false }
        }
        var good = cursor + step
        while good - bad > 1 {
            let middle = bad + (good - bad) / 2
            if isReadable(after: middle) { good = middle } else { bad = middle }
        }
        cursor = good
        return true
    }

    private func isReadable(after id: Int64) -> Bool {
        (try? store.page(after: id, limit: 1, bytes: 1 << 20)) != nil
    }
}
