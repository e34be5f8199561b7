import FoundationEssentials
import Storage

/// The rows of an outbox that are lost with the process (``Durability/memory``).
final class OutboxMemory: OutboxStore {
    /// In ascending order; rows before `start` have been removed.
    private var rows: [QueuedMessage] = []
    private var start = 0

    private var dead: [(letter: DeadLetter, message: OutgoingMessage)] = []

    func ledger() -> OutboxLedger { OutboxLedger() }
    func save(_ ledger: OutboxLedger) {}
    func close() {}

    // Nothing here can fail midway.
    func begin() {}
    func commit() {}
    func rollBack() {}

    func append(_ message: QueuedMessage, acceptedBytes: Int64) { rows.append(message) }

    func page(after id: Int64, limit: Int, bytes: Int) -> (messages: [QueuedMessage], isLast: Bool) {
        var messages: [QueuedMessage] = []
        var left = bytes
        var index = firstIndex(after: id)
        while messages.count < limit, left > 0 {
            guard index < rows.count else { return (messages, true) }
            messages.append(rows[index])
            left -= rows[index].size
            index += 1
        }
        return (messages, false)
    }

    func telemetry(after id: Int64, bytes: Int) -> [(id: Int64, size: Int)] {
        var found: [(id: Int64, size: Int)] = []
        var left = bytes
        for row in rows[firstIndex(after: id)...] where row.message.kind == .telemetry && left > 0 {
            found.append((row.id, row.size))
            left -= row.size
        }
        return found
    }

    func remove(_ ids: ClosedRange<Int64>) {
        let first = firstIndex(after: ids.lowerBound - 1)
        let end = firstIndex(after: ids.upperBound)
        if first == start {
            start = end
        } else {
            rows.removeSubrange(first..<end)
        }
        guard start > 1024, start > rows.count / 2 else { return }
        rows.removeFirst(start)
        start = 0
    }

    func removeAll() {
        rows = []
        start = 0
        dead = []
    }

    func eraseRemoved() {}

    func shares() -> OutboxShares {
        var shares = OutboxShares([:])
        for row in rows[start...] { shares.add(row.weight) }
        return shares
    }

    func makeDeadLetter(_ id: Int64, at time: Date, because reason: String) -> DeadLetter? {
        let index = firstIndex(after: id - 1)
        guard index < rows.count, rows[index].id == id else { return nil }
        let row = rows[index]
        remove(id...id)
        let letter = DeadLetter(
            id: id, topic: row.message.topic, bytes: row.message.payload.count, stamp: row.stamp, diedAt: time,
            reason: reason)
        dead.append((letter, row.message))
        return letter
    }

    func deadLetters() -> [DeadLetter] { dead.map(\.letter) }
    func deadLetterMessage(_ id: Int64) -> OutgoingMessage? { dead.first { $0.letter.id == id }?.message }
    func removeDeadLetter(_ id: Int64) { dead.removeAll { $0.letter.id == id } }

    func oldest() -> Date? { start < rows.count ? rows[start].acceptedAt : nil }

    private func firstIndex(after id: Int64) -> Int {
        var (low, high) = (start, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].id > id { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
