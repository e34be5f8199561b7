import FoundationEssentials
import Groundwork

/// What the messenger is doing, and says of it.
extension Messenger {
    func open(_ connection: BrokerConnection, sessionPresent: Bool) {
        isOpen = true
        attempts = 0
        choice.connected()
        // A connection that will soon be ended is not the end of the trouble.
        if streak.suspicion == nil { lastError = nil }
        become(.connected)
        restoreSubscriptions(over: connection, sessionPresent: sessionPresent)
        events.send(.connected(broker, sessionPresent: sessionPresent))
    }

    func pauseBeforeRetry(after error: MessagingError, for delay: Duration) async {
        lastError = error
        if case .refused(_, let refusal) = error, refusal.concernsCredentials { events.send(.refused(refusal)) }
        guard !reconnectsAtOnce else { return }
        become(.waiting)
        events.send(.failed(error, retryAfter: delay))
        let pause = Task { _ = try? await Task.sleep(for: delay) }
        self.pause = pause
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
        self.pause = nil
    }

    func become(_ state: MessengerStatus.State) {
        guard state != self.state else { return }
        self.state = state
        since = Date()
    }
}
