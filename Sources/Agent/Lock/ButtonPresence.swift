import Gateway
import Groundwork

/// Waits for a press of the board's button, which proves that whoever unlocks a session stands at the board.
///
/// Only one request waits at a time, so that a press cannot serve another one.
final class ButtonPresence: Sendable {
    private enum State {
        case idle
        case waiting(Int)
        case over(Int, isPressed: Bool)
    }

    private let state = AsyncCondition((State.idle, last: 0))

    /// Whether a request waits for a press.
    var isAwaited: Bool { state.read { if case .waiting = $0.0 { true } else { false } } }

    /// Takes a press.
    ///
    /// - Returns: whether a request waited for it; otherwise the press means something else.
    func pressed() -> Bool {
        state.change { state in
            guard case .waiting(let id) = state.0 else { return false }
            state.0 = .over(id, isPressed: true)
            return true
        }
    }

    /// - Throws: ``SessionLockError/buttonBusy``, ``SessionLockError/buttonNotPressed``, `CancellationError`
    func wait(for patience: Duration) async throws {
        let id: Int? = state.change { state in
            guard case .idle = state.0 else { return nil }
            state.last += 1
            state.0 = .waiting(state.last)
            return state.last
        }
        guard let id else { throw SessionLockError.buttonBusy }
        let alarm = Task {
            try await Task.sleep(for: patience)
            end(id)
        }
        defer { alarm.cancel() }
        let isPressed = await withTaskCancellationHandler {
            await state.wait { state -> Bool? in
                guard case .over(id, let isPressed) = state.0 else { return nil }
                state.0 = .idle
                return isPressed
            }
        } onCancel: {
            end(id)
        }
        guard isPressed else {
            try Task.checkCancellation()
            throw SessionLockError.buttonNotPressed
        }
    }

    private func end(_ id: Int) {
        state.change { state in
            guard case .waiting(id) = state.0 else { return }
            state.0 = .over(id, isPressed: false)
        }
    }
}
