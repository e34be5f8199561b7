/// Messages in memory that neither the broker nor the disk is known to have.
///
/// A value without disk, timer or clock. Its numbers are all above those on the disk: whatever is written, all of it
/// is.
///
/// - Parameter Answer: what a publisher waits with; `nil` for messages that nobody waits for.
struct HeldMessages<Answer> {
    /// The messages of one call, which are answered together.
    struct Group {
        let numbers: ClosedRange<Int64>
        /// When they have to be on the disk.
        var due: SuspendingClock.Instant
        let answer: Answer?
        fileprivate var left: Int
    }

    private var messages: [Int64: (message: QueuedMessage, group: Int64)] = [:]
    /// By their first number.
    private var groups: [Int64: Group] = [:]
    private(set) var bytes = 0

    var count: Int { messages.count }
    var isEmpty: Bool { messages.isEmpty }
    /// When the first of them has to be on the disk.
    var nextDue: SuspendingClock.Instant? { groups.values.lazy.map(\.due).min() }
    /// In the order of their numbers.
    var all: [QueuedMessage] { messages.values.map(\.message).sorted { $0.id < $1.id } }

    func contains(_ id: Int64) -> Bool { messages[id] != nil }

    /// - Parameter new: numbered without gaps; at least one.
    mutating func hold(_ new: [QueuedMessage], due: SuspendingClock.Instant, answer: Answer?) {
        guard let first = new.first?.id, let last = new.last?.id else { return }
        for message in new {
            messages[message.id] = (message, first)
            bytes += message.size
        }
        groups[first] = Group(numbers: first...last, due: due, answer: answer, left: new.count)
    }

    /// The next messages after `id`: at most `limit`, and after the first no more than `bytes` together.
    func page(after id: Int64, limit: Int, bytes: Int) -> (messages: [QueuedMessage], isLast: Bool) {
        let waiting = messages.keys.lazy.filter { $0 > id }.sorted()
        var (found, left) = ([QueuedMessage](), bytes)
        for id in waiting {
            guard let next = messages[id]?.message, found.count < limit, left > 0 else { break }
            found.append(next)
            left -= next.size
        }
        return (found, found.count == waiting.count)
    }

    /// Removes a message that the broker has.
    ///
    /// - Returns: whether it was held, and its group if that was the last of it.
    mutating func remove(_ id: Int64) -> (wasHeld: Bool, finished: Group?) {
        guard let (message, key) = messages.removeValue(forKey: id), var group = groups[key] else {
            return (false, nil)
        }
        bytes -= message.size
        group.left -= 1
        groups[key] = group.left == 0 ? nil : group
        return (true, group.left == 0 ? group : nil)
    }

    /// Removes all messages, which are on the disk now.
    mutating func removeAll() -> [Group] {
        defer { self = HeldMessages() }
        return Array(groups.values)
    }

    /// After a write failed: removes the messages that somebody waits for, and grants the others until `later`.
    ///
    /// - Returns: what was removed.
    mutating func withdraw(postponingOthersUntil later: SuspendingClock.Instant) -> [(Group, [QueuedMessage])] {
        var withdrawn: [(Group, [QueuedMessage])] = []
        for (key, group) in groups {
            guard group.answer != nil else {
                groups[key]?.due = later
                continue
            }
            groups[key] = nil
            let own = group.numbers.compactMap { messages.removeValue(forKey: $0)?.message }
            bytes -= own.reduce(0) { $0 + $1.size }
            withdrawn.append((group, own))
        }
        return withdrawn
    }
}
