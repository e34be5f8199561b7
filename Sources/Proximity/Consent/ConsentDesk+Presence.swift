/// What came of the wait for a press that proves that a person is at the board.
public enum PressOutcome: Sendable, Equatable {
    /// It was pressed for this, and could mean nothing else.
    case pressed
    /// It was held for long, or pressed twice, which refuses whatever is asked.
    case refused
    /// It was pressed while it could mean a question of a device nearby as well.
    case ambiguous
    /// It was not pressed in time, or the calling task was canceled.
    case notPressed
    /// Another one waits for a press already.
    case busy
}

extension ConsentDesk {
    struct Presence {
        let id: Int
        let deadline: Duration
        let continuation: CheckedContinuation<PressOutcome, Never>
    }

    /// Waits for a short press of the button.
    ///
    /// A press counts only if it can mean nothing else: while a device asks for consent too, and shortly after, the
    /// button chooses neither.
    ///
    /// - Parameters:
    ///   - patience: how long to wait.
    ///   - onWait: called once presses count; not called if the outcome is ``PressOutcome/busy``.
    public func awaitPress(patience: Duration, onWait: () -> Void = {}) async -> PressOutcome {
        guard presence == nil else { return .busy }
        lastPresence += 1
        let id = lastPresence
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                presence = Presence(id: id, deadline: clock.now + patience, continuation: continuation)
                if questions == 1 { beginPress() } else { becomeAmbiguous() }
                onWait()
            }
        } onCancel: {
            Task { await self.withdrawPresence(id) }
        }
    }

    private func withdrawPresence(_ id: Int) {
        if presence?.id == id { endPresence(as: .notPressed) }
    }

    func endPresence(as outcome: PressOutcome) {
        guard let ended = presence else { return }
        presence = nil
        stopAsking(isFirst: questions == 0)
        ended.continuation.resume(returning: outcome)
        setAlarm()
    }
}
