import Storage

extension OutboxFile {
    /// The widest gap of message numbers that is searched for readable rows.
    private static let reach: Int64 = 1 << 32

    /// Copies the messages that can still be read from a damaged file, in order and in one transaction. If it fails,
    /// none is copied, and the damaged file still has them.
    ///
    /// - Parameter owner: the device identifier that this file is for; messages of another device are not copied.
    /// - Returns: how many messages were copied.
    func rescue(from damaged: String, owner: String?, policy: OutboxPolicy) -> Int {
        var options = Self.options(policy)
        options.creates = false
        options.isDamaged = true
        guard let database = try? Database(path: damaged, migrations: Self.migrations, options: options) else {
            return 0
        }
        let old = OutboxFile(database)
        defer { old.close() }
        // If the owner is unreadable, the messages are assumed to be this device's.
        if let owner, let former = try? old.owner(), former != owner { return 0 }
        var ledger = OutboxLedger()
        do throws(StorageError) {
            try transaction {
                var reader = RescueReader(store: old)
                while let messages = reader.next() {
                    for message in messages {
                        let id = ledger.accept(size: message.size)
                        try append(
                            QueuedMessage(id: id, message: message.message, acceptedAt: message.acceptedAt),
                            acceptedBytes: ledger.acceptedBytes)
                    }
                }
            }
        } catch {
            return 0
        }
        return ledger.depth
    }

    /// Reads rows in order, skipping those that cannot be read.
    private struct RescueReader {
        let store: OutboxFile
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
                guard step <= OutboxFile.reach else { return false }
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
}
