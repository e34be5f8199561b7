import Synchronization

/// Lets a test wait for something, and something wait for the test. Opens by itself in a cancelled task, so that a time
/// limit can end the test.
package final class Gate: Sendable {
    private struct State {
        var isOpen: Bool
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state: Mutex<State>

    package init(isOpen: Bool = false) { state = Mutex(State(isOpen: isOpen)) }

    package func close() { state.withLock { $0.isOpen = false } }

    package func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns as soon as it is open.
    package func pass() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiting.append(continuation) }
                    return state.isOpen
                }
                if isOpen { continuation.resume() }
            }
        } onCancel: {
            open()
        }
    }
}
