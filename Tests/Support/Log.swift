import Synchronization

/// What happened, in order, for a test to wait for.
package final class Log<Entry: Sendable>: Sendable {
    private struct State {
        var entries: [Entry] = []
        var watchers:
            [(count: Int, matches: @Sendable (Entry) -> Bool, continuation: CheckedContinuation<Entry, Never>)] = []
    }
    private let state = Mutex(State())

    package init() {}

    package var entries: [Entry] { state.withLock { $0.entries } }

    package func append(_ entry: Entry) {
        state.withLock { state in
            state.entries.append(entry)
            let entries = state.entries
            state.watchers.removeAll { watcher in
                let found = entries.filter(watcher.matches)
                guard found.count >= watcher.count else { return false }
                watcher.continuation.resume(returning: found[watcher.count - 1])
                return true
            }
        }
    }

    /// The first entry that matches, or the `count`th, once it is there. A test's time limit bounds the wait.
    @discardableResult
    package func wait(_ count: Int = 1, for matches: @escaping @Sendable (Entry) -> Bool) async -> Entry {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                let found = state.entries.filter(matches)
                if found.count >= count {
                    continuation.resume(returning: found[count - 1])
                } else {
                    state.watchers.append((count, matches, continuation))
                }
            }
        }
    }
}

extension Log where Entry: Equatable {
    @discardableResult
    package func wait(for entry: Entry, _ count: Int = 1) async -> Entry where Entry: Sendable {
        await wait(count) { $0 == entry }
    }
}
