/// A gate for code that suspends: tasks wait at it until it is open.
public final class AsyncGate: Sendable {
    private struct State {
        var isOpen = false
        var lastNumber = 0
        /// The tasks that wait, by number.
        var waiting: Set<Int> = []
        /// Those that were canceled while they waited, and have not noticed it yet.
        var canceled: Set<Int> = []

        mutating func enter() -> Int {
            lastNumber += 1
            if !isOpen { waiting.insert(lastNumber) }
            return lastNumber
        }

        mutating func open() {
            isOpen = true
            waiting = []
        }

        mutating func cancel(_ number: Int) {
            if waiting.remove(number) != nil { canceled.insert(number) }
        }

        /// - Returns: whether the gate was opened for this task; `nil` while it waits.
        mutating func leave(_ number: Int) -> Bool? {
            waiting.contains(number) ? nil : canceled.remove(number) == nil
        }
    }
    private let state = AsyncCondition(State())

    /// Makes a closed gate.
    public init() {}

    /// Lets all pass that wait, even if the gate is closed again before they run.
    public func open() { state.change { $0.open() } }

    /// Has those wait that come from now on.
    public func close() { state.change { $0.isOpen = false } }

    /// Returns when the gate is open.
    ///
    /// - Throws: `CancellationError` if the task is canceled while the gate is closed.
    public func pass(isolation: isolated (any Actor)? = #isolation) async throws {
        let number = state.change { $0.enter() }
        let wasOpened = await withTaskCancellationHandler {
            await state.wait(isolation: isolation) { $0.leave(number) }
        } onCancel: {
            state.change { $0.cancel(number) }
        }
        guard wasOpened else { throw CancellationError() }
    }

    /// How many tasks wait now, so that a test can wait for them.
    public var waiting: Int { state.read { $0.waiting.count } }
}
