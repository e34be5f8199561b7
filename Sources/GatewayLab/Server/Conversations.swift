import Groundwork

/// The tasks that serve the connections of a server.
final class Conversations: Sendable {
    private struct State {
        var tasks: [Int: Task<Void, Never>] = [:]
        var started = 0
    }
    private let state = AsyncCondition(State())

    func add(_ conversation: @escaping @Sendable () async -> Void) {
        state.change { [state] in
            let number = $0.started
            $0.started += 1
            $0.tasks[number] = Task {
                await conversation()
                state.change { $0.tasks[number] = nil }
            }
        }
    }

    /// Cancels all. Returns when all have ended.
    func end() async {
        for task in state.change({ Array($0.tasks.values) }) { task.cancel() }
        await state.wait { $0.tasks.isEmpty ? () : nil }
    }
}
