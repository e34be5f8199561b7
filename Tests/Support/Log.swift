import Synchronization

/// What happened, in order, for a test to wait for.
package final class Log<Entry: Sendable>: Sendable {
    private struct Watcher {
        let id: Int
        let count: Int
        let matches: @Sendable (Entry) -> Bool
        let continuation: CheckedContinuation<Entry, any Error>

        func found(in entries: [Entry]) -> Entry? {
            let found = entries.filter(matches)
            return found.count >= count ? found[count - 1] : nil
        }
    }

    private struct State {
        var entries: [Entry] = []
        var watchers: [Watcher] = []
        var lastID = 0
    }
    private let state = Mutex(State())

    package init() {}

    package var entries: [Entry] { state.withLock { $0.entries } }

    package func append(_ entry: Entry) {
        state.withLock { state in
            state.entries.append(entry)
            let entries = state.entries
            state.watchers.removeAll { watcher in
                guard let found = watcher.found(in: entries) else { return false }
                watcher.continuation.resume(returning: found)
                return true
            }
        }
    }

    /// The first entry that matches, or the `count`th, once it is there.
    ///
    /// - Throws: `CancellationError` when the task is canceled, as by a test's time limit.
    @discardableResult
    package func wait(_ count: Int = 1, for matches: @escaping @Sendable (Entry) -> Bool) async throws -> Entry {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { state in
                    let watcher = Watcher(id: id, count: count, matches: matches, continuation: continuation)
                    if let found = watcher.found(in: state.entries) {
                        continuation.resume(returning: found)
                    } else if Task.isCancelled {
                        // The handler has run, or comes after this lock and finds the watcher.
                        continuation.resume(throwing: CancellationError())
                    } else {
                        state.watchers.append(watcher)
                    }
                }
            }
        } onCancel: {
            state.withLock { state in
                guard let place = state.watchers.firstIndex(where: { $0.id == id }) else { return }
                state.watchers.remove(at: place).continuation.resume(throwing: CancellationError())
            }
        }
    }

    /// Waits for any entry, and does not mind cancellation, as a radio that hangs does not.
    package func hang() async { _ = await Task { try? await wait { _ in true } }.value }
}

extension Log where Entry: Equatable {
    /// - Throws: `CancellationError`
    @discardableResult
    package func wait(for entry: Entry, _ count: Int = 1) async throws -> Entry where Entry: Sendable {
        try await wait(count) { $0 == entry }
    }
}
