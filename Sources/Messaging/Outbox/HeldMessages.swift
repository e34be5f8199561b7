/// Messages in memory that neither the broker nor the disk is known to have.
///
/// A value without disk, timer or clock. Its numbers are all above those on the disk: whatever is written, all of it
/// is.
struct HeldMessages {
    /// The messages of one call, which are answered together.
    struct Group {
        let numbers: ClosedRange<Int64>
        /// When they have to be on the disk.
        var due: SuspendingClock.Instant
        /// `nil` if no caller waits.
        let answer: Outbox.Answer?
        fileprivate var left: Int

        func succeed() { answer?(.success(Array(numbers))) }
    }

    /// In the order of their numbers; those before `start` have left.
    private var messages: [QueuedMessage] = []
    private var start = 0
    private var groups: [Group] = []
    private(set) var bytes = 0
    /// Of those before `start`.
    private var goneBytes = 0

    var count: Int { messages.count - start }
    var isEmpty: Bool { count == 0 }
    /// In the order of their numbers.
    var all: ArraySlice<QueuedMessage> { messages[start...] }

    /// When the first of them has to be on the disk.
    var nextDue: SuspendingClock.Instant? {
        guard var due = groups.first?.due else { return nil }
        for group in groups where group.due < due { due = group.due }
        return due
    }

    func contains(_ id: Int64) -> Bool {
        let index = index(after: id - 1)
        return index < messages.count && messages[index].id == id
    }

    /// - Parameter new: numbered without gaps, above all that are held; at least one.
    mutating func hold(_ new: [QueuedMessage], due: SuspendingClock.Instant, answer: Outbox.Answer?) {
        guard let first = new.first?.id, let last = new.last?.id else { return }
        messages += new
        for message in new { bytes += message.size }
        groups.append(Group(numbers: first...last, due: due, answer: answer, left: new.count))
    }

    /// The next messages after `id`: at most `limit`, and after the first no more than `bytes` together.
    func page(after id: Int64, limit: Int, bytes: Int) -> (messages: [QueuedMessage], isLast: Bool) {
        var (found, left, index) = ([QueuedMessage](), bytes, index(after: id))
        while index < messages.count, found.count < limit, left > 0 {
            found.append(messages[index])
            left -= messages[index].size
            index += 1
        }
        return (found, index == messages.count)
    }

    /// Removes a message that the broker has.
    ///
    /// - Returns: whether it was held, and its group if that was the last of it.
    mutating func remove(_ id: Int64) -> (wasHeld: Bool, finished: Group?) {
        guard contains(id) else { return (false, nil) }
        drop(at: index(after: id - 1))
        for index in groups.indices where groups[index].numbers.contains(id) {
            groups[index].left -= 1
            return (true, groups[index].left == 0 ? groups.remove(at: index) : nil)
        }
        return (true, nil)
    }

    /// Removes all messages, which are on the disk now.
    mutating func removeAll() -> [Group] {
        defer { self = HeldMessages() }
        return groups
    }

    /// After a write failed: removes the messages that a caller waits for, and grants the others until `later`.
    ///
    /// - Parameter forget: called for each message that is removed.
    /// - Returns: the groups that were removed.
    mutating func withdraw(
        postponingOthersUntil later: SuspendingClock.Instant, _ forget: (QueuedMessage) -> Void
    ) -> [Group] {
        var withdrawn: [Group] = []
        var index = 0
        while index < groups.count {
            guard groups[index].answer != nil else {
                groups[index].due = later
                index += 1
                continue
            }
            let group = groups.remove(at: index)
            for id in group.numbers where contains(id) {
                let place = self.index(after: id - 1)
                forget(messages[place])
                drop(at: place)
            }
            withdrawn.append(group)
        }
        return withdrawn
    }

    private mutating func drop(at index: Int) {
        bytes -= messages[index].size
        guard index == start else {
            messages.remove(at: index)
            return
        }
        start += 1
        goneBytes += messages[index].size
        guard isEmpty || start >= 512 || goneBytes >= 1 << 16 else { return }
        messages.removeFirst(start)
        (start, goneBytes) = (0, 0)
    }

    private func index(after id: Int64) -> Int {
        var (low, high) = (start, messages.count)
        while low < high {
            let middle = (low + high) / 2
            if messages[middle].id > id { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
